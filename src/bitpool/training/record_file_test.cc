#include "bitpool/training/record_file.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bitpool/base/random.h"
#include "bitpool/hash/sah.h"
#include "bitpool/hash/testing.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::FaultyEnv;
using testing::TempFolder;

// Images with few descriptors, many, and none at all, of a dimension that makes records of odd
// lengths.
MemoryFeatureSet SomeImages(Index dimension, Index count) {
  Random random(3);
  MemoryFeatureSet images(dimension);
  for (Index image = 0; image < count; ++image) {
    images.Add("image " + std::to_string(image), random.NormalMatrix(dimension, image % 9));
  }
  return images;
}

std::vector<std::byte> SomeRecord(Index dimension, Index descriptors,
                                  RecordPrecision precision = RecordPrecision::kHalf,
                                  uint64_t seed = 1) {
  Random random(seed);
  return ImageRecord::Reduce(random.NormalMatrix(dimension, descriptors), precision).Pack();
}

TEST(FileRecords, AreThoseInMemory) {
  const TempFolder folder;
  const MemoryFeatureSet images = SomeImages(7, 200);
  MemoryRecords memory(7);
  FileRecords file(Env::Posix(), folder / "r", 7);
  EXPECT_EQ(ReduceImages(images, true, file, RunContext()),
            ReduceImages(images, true, memory, RunContext()));
  ASSERT_EQ(file.size(), memory.size());
  EXPECT_EQ(file.dimension(), 7);
  RunContext({.threads = 4})
      .ParallelFor(static_cast<size_t>(file.size()), 1, [&](size_t i, size_t) {
        const auto image = static_cast<Index>(i);
        EXPECT_EQ(file.Read(image).has_gram(), memory.Read(image).has_gram());
        EXPECT_EQ(file.Read(image).Pack(), memory.Read(image).Pack());
      });
}

TEST(FileRecords, AreOpenedWhereTheyWereKept) {
  const TempFolder folder;
  const MemoryFeatureSet images = SomeImages(7, 50);
  MemoryRecords memory(7);
  ReduceImages(images, true, memory, RunContext());
  {
    FileRecords file(Env::Posix(), folder / "r", 7);
    ReduceImages(images, true, file, RunContext());
    file.Keep();
  }
  for (int time = 0; time < 2; ++time) {  // opening does not take them away
    const auto opened = FileRecords::Open(Env::Posix(), folder / "r");
    ASSERT_EQ(opened->size(), memory.size());
    EXPECT_EQ(opened->dimension(), 7);
    for (Index image = 0; image < memory.size(); ++image) {
      EXPECT_EQ(opened->Read(image).Pack(), memory.Read(image).Pack());
    }
  }
}

TEST(FileRecords, OpenRefusesWhatAreNoRecords) {
  const TempFolder folder;
  const auto write = [&](const std::vector<uint64_t>& ends, const nlohmann::json& metadata) {
    ContainerWriter writer(Env::Posix(), folder / "r", "records", IfExists::kReplace);
    writer.Add<uint8_t>("records", {16}, std::vector<uint8_t>(16));
    writer.Add<uint64_t>("record_ends", {ends.size()}, ends);
    writer.Commit(metadata);
  };
  const auto open = [&] { return FileRecords::Open(Env::Posix(), folder / "r"); };
  write({9, 8}, {{"dimension", 7}});
  ExpectError(ErrorCode::kCorrupt, {"record_ends", "ascending"}, open);
  write({24}, {{"dimension", 7}});
  ExpectError(ErrorCode::kCorrupt, {"record_ends", "outside"}, open);
  write({16}, {{"dimension", -7}});
  ExpectError(ErrorCode::kCorrupt, {"dimension"}, open);
  write({16}, {{"dimension", 7}});
  ExpectError(ErrorCode::kCorrupt, {"a record of 16 bytes"}, [&] { open()->Read(0); });
}

TEST(FileRecords, TrainTheSameModel) {
  const TempFolder folder;
  const MatrixF centres = ClusteredSamples(8, 60, 1);
  Random random(2);
  MemoryFeatureSet images(8);
  for (Index image = 0; image < 60; ++image) {
    MatrixF descriptors = random.NormalMatrix(8, 3 + image % 5);
    descriptors.colwise() += centres.col(image);
    images.Add(std::to_string(image), descriptors);
  }
  const SahOptions options{.bits = 4, .iterations = 2};
  FileRecords records(Env::Posix(), folder / "r", 8);
  ReduceImages(images, true, records, RunContext());
  const HashModel file = TrainSah(options, records, RunContext()).model;
  const HashModel memory = TrainSah(options, images, RunContext()).model;
  EXPECT_TRUE(SameBits(file.decoder.weights, memory.decoder.weights));
  EXPECT_TRUE(SameBits(file.encoder->Project(centres), memory.encoder->Project(centres)));
}

TEST(FileRecords, FileIsAsDocumented) {
  const TempFolder folder;
  FileRecords records(Env::Posix(), folder / "r", 5);
  // Of 16 + 4·5 + 2·min(5n, 15) bytes: 46, 56, 66, 66.
  std::vector<std::vector<std::byte>> packed;
  for (const Index descriptors : {1, 2, 3, 9}) packed.push_back(SomeRecord(5, descriptors));
  for (const auto& record : packed) records.Append(record);
  records.Finish();
  const Container container = Container::Open(Env::Posix(), folder / "r");
  EXPECT_EQ(container.kind(), "records");
  EXPECT_EQ(container.metadata(), nlohmann::json::parse(R"({"dimension": 5})"));
  const auto ends = container.ReadArray<uint64_t>("record_ends", 1);
  EXPECT_TRUE(std::ranges::equal(ends, std::vector<uint64_t>{46, 104, 170, 242}));
  const auto bytes = container.Read(container.Find("records", DType::kU1, 1));
  ASSERT_EQ(bytes.size(), 248U);
  const std::vector<size_t> starts = {0, 48, 104, 176};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::ranges::equal(bytes.subspan(starts[i], packed[i].size()), packed[i])) << i;
  }
}

TEST(FileRecords, RemovesItsFile) {
  const TempFolder folder;
  {
    FileRecords records(Env::Posix(), folder / "r", 3);
    records.Append(SomeRecord(3, 2));
    EXPECT_TRUE(Env::Posix().List(folder.path()).empty());
    records.Finish();
    EXPECT_EQ(Env::Posix().List(folder.path()), std::vector<std::string>{"r"});
  }
  EXPECT_TRUE(Env::Posix().List(folder.path()).empty());
  {
    FileRecords records(Env::Posix(), folder / "r", 3);
    records.Finish();
    EXPECT_EQ(records.size(), 0);
    Env::Posix().Remove(folder / "r");  // then there is nothing left to remove
  }
}

TEST(FileRecords, ReplacesOnlyRecords) {
  const TempFolder folder;
  ContainerWriter(Env::Posix(), folder / "left", "records", IfExists::kFail).Commit({});
  {
    FileRecords records(Env::Posix(), folder / "left", 3);
    records.Append(SomeRecord(3, 2));
    records.Finish();
    EXPECT_EQ(records.Read(0).Pack(), SomeRecord(3, 2));
  }
  ContainerWriter(Env::Posix(), folder / "precious", "model", IfExists::kFail).Commit({});
  ExpectError(ErrorCode::kInvalidArgument, {"precious", "records", "model"},
              [&] { FileRecords(Env::Posix(), folder / "precious", 3); });
  ExpectError(ErrorCode::kInvalidArgument, {folder.path().string()},
              [&] { FileRecords(Env::Posix(), folder.path(), 3); });
  EXPECT_EQ(Env::Posix().List(folder.path()), std::vector<std::string>{"precious"});
}

TEST(FileRecords, EveryDamagedByteOfARecordIsRejected) {
  const TempFolder folder;
  FileRecords records(Env::Posix(), folder / "r", 3);
  for (const Index descriptors : {1, 4}) records.Append(SomeRecord(3, descriptors));
  records.Finish();
  const Section section = Container::Open(Env::Posix(), folder / "r").Find("records");
  std::fstream file(folder / "r", std::ios::in | std::ios::out | std::ios::binary);
  const auto flip = [&](uint64_t offset) {  // in the mapped file itself
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 0x10)).flush();
    ASSERT_TRUE(file.good());
  };
  for (uint64_t i = 0; i < section.length; ++i) {
    flip(section.offset + i);
    ExpectError(ErrorCode::kCorrupt, {"section \"records\"", "(record 1)"},
                [&] { records.Read(1); });
    flip(section.offset + i);
  }
  EXPECT_EQ(records.Read(1).Pack(), SomeRecord(3, 4));
}

TEST(FileRecords, AnyFailureLeavesNothingBehind) {
  const TempFolder folder;
  const auto write = [&](Env& env) {
    FileRecords records(env, folder / "r", 40);
    for (uint64_t i = 0; i < 300; ++i)
      records.Append(SomeRecord(40, 50, RecordPrecision::kHalf, i));  // several buffers
    records.Finish();
    EXPECT_EQ(records.Read(299).Pack(), SomeRecord(40, 50, RecordPrecision::kHalf, 299));
  };
  FaultyEnv counting(0);
  write(counting);
  ASSERT_GE(counting.operations(), 8);
  // The last operation removes the file, in a destructor, which can neither report a failure nor do
  // better.
  for (int failing = 1; failing < counting.operations(); ++failing) {
    FaultyEnv env(failing);
    ExpectError(ErrorCode::kIo, {"injected"}, [&] { write(env); });
    EXPECT_TRUE(Env::Posix().List(folder.path()).empty()) << failing;
  }
}

// Two jobs with one scratch file: the second must not read the records of the first.
TEST(FileRecords, NoticesAnotherFile) {
  class SwappingEnv : public FaultyEnv {
   public:
    explicit SwappingEnv(std::filesystem::path other) : FaultyEnv(0), other_(std::move(other)) {}
    std::shared_ptr<const FileView> Map(const std::filesystem::path& /*path*/) override {
      return FaultyEnv::Map(other_);
    }

   private:
    std::filesystem::path other_;
  };
  const TempFolder folder;
  FileRecords other(Env::Posix(), folder / "other", 3);
  other.Append(SomeRecord(3, 2));
  other.Finish();
  SwappingEnv env(folder / "other");
  FileRecords records(env, folder / "r", 3);
  for (int i = 0; i < 2; ++i) records.Append(SomeRecord(3, 2));
  ExpectError(ErrorCode::kCorrupt, {"record_ends", "another process"}, [&] { records.Finish(); });
}

TEST(FileRecords, KeepsTheOrderOfCalls) {
  const TempFolder folder;
  FileRecords records(Env::Posix(), folder / "r", 3);
  records.Append(SomeRecord(3, 2));
  ExpectError(ErrorCode::kInternal, {"before Finish"}, [&] { records.Read(0); });
  records.Finish();
  ExpectError(ErrorCode::kInternal, {"after Finish"}, [&] { records.Append(SomeRecord(3, 2)); });
  ExpectError(ErrorCode::kInternal, {"after Finish"}, [&] { records.Finish(); });
}

TEST(RecordStore, PackedBytesAreThoseOfPack) {
  for (const Index dimension : {1, 4, 7}) {
    for (const Index descriptors : {1, 2, 3, 4, 5, 50}) {
      for (const auto precision : {RecordPrecision::kHalf, RecordPrecision::kSingle}) {
        EXPECT_EQ(ImageRecord::PackedBytes(dimension, descriptors, precision),
                  SomeRecord(dimension, descriptors, precision).size())
            << dimension << " × " << descriptors;
      }
    }
  }
}

TEST(RecordStore, SpillsWhatDoesNotFit) {
  const TempFolder folder;
  const MemoryFeatureSet images = SomeImages(7, 20);
  uint64_t needed = 0;
  for (Index image = 0; image < images.size(); ++image) {
    const Index descriptors = images.descriptor_count(image);
    if (descriptors > 0) needed += SomeRecord(7, descriptors).size();
  }
  const auto in_file = [&](uint64_t memory) {
    const auto store =
        MakeRecordStore(Env::Posix(), images, RecordPrecision::kHalf, memory, folder / "r");
    ReduceImages(images, true, *store, RunContext());
    EXPECT_EQ(store->dimension(), 7);
    EXPECT_EQ(store->Read(0).has_gram(), false);
    return Env::Posix().Exists(folder / "r");
  };
  EXPECT_FALSE(in_file(needed));
  EXPECT_TRUE(in_file(needed - 1));
  EXPECT_FALSE(Env::Posix().Exists(folder / "r"));
}

}  // namespace
}  // namespace bitpool
