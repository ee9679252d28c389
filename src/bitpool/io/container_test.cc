#include "bitpool/io/container.h"

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "bitpool/base/random.h"
#include "bitpool/io/checksum.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/io/forged_container.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::Get;
using testing::kBlocksAt;
using testing::kCountAt;
using testing::kEntryChecksum;
using testing::kEntryDims;
using testing::kEntryDtype;
using testing::kEntryLength;
using testing::kEntryOffset;
using testing::kEntryRank;
using testing::kLengthAt;
using testing::kTableAt;
using testing::kVersionAt;
using testing::Put;
using testing::Reseal;
using testing::TempFolder;
using testing::ToString;
using testing::View;

void WriteSmall(Env& env, const std::filesystem::path& path, float first,
                IfExists if_exists = IfExists::kFail) {
  ContainerWriter writer(env, path, "small", if_exists);
  const std::vector<float> weights = {first, 2, 3, 4, 5, 6};
  writer.Add<float>("weights", {2, 3}, weights);
  const std::vector<uint64_t> ends = {10, 20};
  writer.Add<uint64_t>("ends", {2}, ends);
  writer.Add("nothing", DType::kI4, {0, 7}, {});
  writer.Commit({{"bits", 32}, {"note", "ä"}});
}

std::string SmallBytes() {
  const TempFolder folder;
  WriteSmall(Env::Posix(), folder / "a", 1);
  return ToString(Env::Posix().Map(folder / "a")->bytes());
}

void ReadEverything(const std::shared_ptr<const FileView>& view) {
  Container::Parse(view).Verify(RunContext({.threads = 1}));
}

TEST(Container, RoundTrips) {
  const TempFolder folder;
  WriteSmall(Env::Posix(), folder / "a", 1);
  const Container container = Container::Open(Env::Posix(), folder / "a");
  EXPECT_EQ(container.kind(), "small");
  EXPECT_EQ(container.metadata(), (nlohmann::json{{"bits", 32}, {"note", "ä"}}));
  ASSERT_EQ(container.sections().size(), 4U);
  const std::span<const float> weights = container.ReadArray<float>("weights", 2);
  EXPECT_EQ(std::vector<float>(weights.begin(), weights.end()),
            (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(container.ReadArray<uint64_t>("ends", 1)[1], 20U);
  EXPECT_TRUE(container.ReadArray<int32_t>("nothing", 2).empty());
  EXPECT_EQ(container.Find("nothing").dims, (std::vector<uint64_t>{0, 7}));
  for (const Section& section : container.sections())
    EXPECT_EQ(section.offset % kContainerAlignment, 0U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data()) % kContainerAlignment, 0U);
}

TEST(Container, SameContentSameBytes) { EXPECT_EQ(SmallBytes(), SmallBytes()); }

TEST(Container, AsksForWhatIsThere) {
  const Container container = Container::Parse(View(SmallBytes(), "a.bpm"));
  ExpectError(ErrorCode::kCorrupt, {"a.bpm", "\"codes\" is missing"},
              [&] { container.Find("codes"); });
  ExpectError(ErrorCode::kCorrupt, {"\"weights\"", "f8", "f4"},
              [&] { container.ReadArray<double>("weights", 2); });
  ExpectError(ErrorCode::kCorrupt, {"\"weights\""},
              [&] { container.ReadArray<float>("weights", 1); });
  ExpectError(ErrorCode::kInvalidArgument, {"a.bpm", "\"features\"", "\"small\""},
              [&] { container.ExpectKind("features"); });
  container.ExpectKind("small");
}

TEST(Container, StreamedSectionsEqualWholeOnes) {
  const TempFolder folder;
  Random random(1);
  std::vector<uint8_t> values(3 * kContainerBlockBytes + 12345);
  for (uint8_t& value : values) value = static_cast<uint8_t>(random.Next());
  {
    ContainerWriter whole(Env::Posix(), folder / "whole", "x", IfExists::kFail);
    whole.Add<uint8_t>("bytes", {values.size()}, values);
    whole.Commit({});
    ContainerWriter pieces(Env::Posix(), folder / "pieces", "x", IfExists::kFail);
    pieces.Begin("bytes", DType::kU1);
    for (size_t done = 0; done < values.size();) {
      const size_t size =
          std::min<size_t>(values.size() - done, random.Below(2 * kContainerBlockBytes));
      pieces.Append(std::as_bytes(std::span(values).subspan(done, size)));
      done += size;
    }
    pieces.End({values.size()});
    pieces.Commit({});
  }
  EXPECT_EQ(ToString(Env::Posix().Map(folder / "whole")->bytes()),
            ToString(Env::Posix().Map(folder / "pieces")->bytes()));
  const Container container = Container::Open(Env::Posix(), folder / "pieces");
  container.Verify(RunContext({.threads = 2}));
  const Section& section = container.Find("bytes");
  for (const uint64_t offset : {uint64_t{0}, kContainerBlockBytes - 3, 2 * kContainerBlockBytes}) {
    const auto piece = container.Read(section, offset, 10);
    EXPECT_EQ(std::memcmp(piece.data(), values.data() + offset, 10), 0);
  }
}

TEST(Container, EveryDamageIsRejected) {
  testing::ExpectEveryDamageIsRejected(SmallBytes(), ReadEverything);
}

TEST(Container, DamagedContentIsNeverReturned) {
  std::string bytes = SmallBytes();
  bytes[64 + 5] ^= 4;  // inside "weights"
  const Container container = Container::Parse(View(bytes, "a.bpm"));
  EXPECT_EQ(container.ReadArray<uint64_t>("ends", 1)[0], 10U);  // the other sections are good
  for (int i = 0; i < 2; ++i) {
    ExpectError(ErrorCode::kCorrupt, {"a.bpm", "section \"weights\"", "checksum"},
                [&] { container.ReadArray<float>("weights", 2); });
  }
}

TEST(Container, LiesWithRightChecksumsAreRejected) {
  const std::string good = SmallBytes();
  const size_t entry = Get<uint64_t>(good, kTableAt);
  const auto expect_rejected = [&](const std::string& what,
                                   const std::function<void(std::string&)>& lie) {
    std::string bytes = good;
    lie(bytes);
    Reseal(bytes);
    SCOPED_TRACE(what);
    ExpectError(ErrorCode::kCorrupt, {"test: "}, [&] { ReadEverything(View(bytes)); });
  };
  for (const uint64_t size :
       {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 31, uint64_t{1} << 63, uint64_t{1} << 62}) {
    const std::string text = std::to_string(size);
    expect_rejected("dim 0 of " + text, [&](std::string& b) { Put(b, entry + kEntryDims, size); });
    expect_rejected("dim 1 of " + text,
                    [&](std::string& b) { Put(b, entry + kEntryDims + 8, size); });
    expect_rejected("dim 3 of " + text,
                    [&](std::string& b) { Put(b, entry + kEntryDims + 24, size | 1); });
    expect_rejected("length of " + text,
                    [&](std::string& b) { Put(b, entry + kEntryLength, size); });
    expect_rejected("offset of " + text,
                    [&](std::string& b) { Put(b, entry + kEntryOffset, size); });
    expect_rejected("file length of " + text, [&](std::string& b) { Put(b, kLengthAt, size); });
    expect_rejected("blocks at " + text, [&](std::string& b) { Put(b, kBlocksAt, size); });
    expect_rejected("table at " + text, [&](std::string& b) { Put(b, kTableAt, size); });
    // The product of the dimensions overflows back to the true length.
    expect_rejected("overflow with " + text, [&](std::string& b) {
      Put(b, entry + kEntryDims, size);
      Put(b, entry + kEntryDims + 8, uint64_t{4});
      Put(b, entry + kEntryLength, size * 4 * 4);
    });
  }
  for (const uint32_t count : {0U, 1U, 3U, 5U, 1U << 31, ~0U}) {
    expect_rejected("count", [&](std::string& b) { Put(b, kCountAt, count); });
  }
  for (const uint32_t dtype : {0U, 9U, ~0U}) {
    expect_rejected("dtype", [&](std::string& b) { Put(b, entry + kEntryDtype, dtype); });
  }
  for (const uint32_t rank : {0U, 1U, 3U, 5U, ~0U}) {
    expect_rejected("rank", [&](std::string& b) { Put(b, entry + kEntryRank, rank); });
  }
  expect_rejected("no name", [&](std::string& b) { b[entry] = 0; });
  expect_rejected("two of one name",
                  [&](std::string& b) { std::memcpy(&b[entry + 104], "weights", 8); });
  expect_rejected("version 0", [&](std::string& b) { Put(b, kVersionAt, 0U); });
}

TEST(Container, ANewerVersionIsRefusedInClearWords) {
  std::string bytes = SmallBytes();
  Put(bytes, kVersionAt, kContainerVersion + 1);
  Reseal(bytes);
  ExpectError(ErrorCode::kUnsupported, {"test", "newer version"},
              [&] { ReadEverything(View(bytes)); });
}

TEST(Container, ABigEndianFileIsRefusedInClearWords) {
  std::string bytes = SmallBytes();
  Put(bytes, kVersionAt, __builtin_bswap32(1));
  ExpectError(ErrorCode::kUnsupported, {"test", "big-endian"},
              [&] { ReadEverything(View(bytes)); });
}

TEST(Container, MetadataMustBeAnObjectWithAKind) {
  // Rewrites the metadata in place with text of the same length and a correct checksum.
  const auto with_metadata = [](const std::string& text) {
    std::string bytes = SmallBytes();
    const Container container = Container::Parse(View(bytes));
    const Section& section = container.Find("metadata");
    std::string padded = text + std::string(section.length - text.size(), ' ');
    const uint64_t block = Checksum(std::as_bytes(std::span(padded)));
    std::memcpy(&bytes[section.offset], padded.data(), padded.size());
    Put(bytes, Get<uint64_t>(bytes, kBlocksAt) + 8 * section.first_block, block);
    const size_t entry = Get<uint64_t>(bytes, kTableAt) + 104 * (container.sections().size() - 1);
    Put(bytes, entry + kEntryChecksum, Checksum(std::as_bytes(std::span(&block, 1))));
    Reseal(bytes);
    return bytes;
  };
  EXPECT_EQ(Container::Parse(View(with_metadata(R"({"kind":"x"})"))).kind(), "x");
  // What is nested without end would exhaust the stack of whoever writes it.
  for (const std::string text :
       {"", "[]", "{}", R"({"kind":3})", R"({"kind":"x")", "\xff", R"({"kind":"x",[[[[)"}) {
    ExpectError(ErrorCode::kCorrupt, {"section \"metadata\""},
                [&] { ReadEverything(View(with_metadata(text))); });
  }
}

TEST(Container, OtherFilesAreNotContainers) {
  for (const std::string& text : {std::string(), std::string(200, '\0'), std::string(5000, 'x')}) {
    ExpectError(ErrorCode::kCorrupt, {"test: header"}, [&] { ReadEverything(View(text)); });
  }
}

TEST(Container, WriterRefusesMisuse) {
  const TempFolder folder;
  ContainerWriter writer(Env::Posix(), folder / "a", "x", IfExists::kFail);
  const std::vector<float> values = {1, 2};
  ExpectError(ErrorCode::kInternal, {"\"a\""}, [&] { writer.Add<float>("a", {3}, values); });
  ContainerWriter other(Env::Posix(), folder / "a", "x", IfExists::kFail);
  other.Add<float>("a", {2}, values);
  ExpectError(ErrorCode::kInvalidArgument, {"\"a\""}, [&] { other.Add<float>("a", {2}, values); });
  ExpectError(ErrorCode::kInvalidArgument, {"name"},
              [&] { other.Add<float>(std::string(41, 'n'), {2}, values); });
}

TEST(Container, AFailedSaveKeepsTheOldFile) {
  testing::FaultyEnv counting(0);
  {
    const TempFolder folder;
    WriteSmall(counting, folder / "a", 1, IfExists::kReplace);
  }
  ASSERT_GT(counting.operations(), 5);
  for (int failing = 1; failing < counting.operations(); ++failing) {
    const TempFolder folder;
    WriteSmall(Env::Posix(), folder / "a", 1);
    testing::FaultyEnv faulty(failing);
    ExpectError(ErrorCode::kIo, {"injected"},
                [&] { WriteSmall(faulty, folder / "a", 9, IfExists::kReplace); });
    EXPECT_EQ(Container::Open(Env::Posix(), folder / "a").ReadArray<float>("weights", 2)[0], 1.0F);
    EXPECT_EQ(Env::Posix().List(folder.path()).size(), 1U);
  }
}

TEST(Container, VerifyCanBeInterrupted) {
  std::stop_source source;
  source.request_stop();
  const Container container = Container::Parse(View(SmallBytes()));
  ExpectError(ErrorCode::kCancelled, {},
              [&] { container.Verify(RunContext({.stop = source.get_token()})); });
}

}  // namespace
}  // namespace bitpool
