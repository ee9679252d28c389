#include "bitpool/library/library_index.h"

#include <gtest/gtest.h>

#include "bitpool/io/faulty_env.h"
#include "bitpool/library/library_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::FakeEncode;
using testing::FakeEncoding;
using testing::FakePicture;
using testing::PictureFolder;
using testing::ReadContent;
using testing::ToBytes;

std::string BytesOf(const fs::path& file) {
  return testing::ToString(Env::Posix().Read(file, uint64_t{1} << 30));
}

// A copy that was lost, damaged or belongs to another library is not used, and made again.
TEST(LibraryIndex, TheIndexFileIsOnlyACopy) {
  PictureFolder pictures;
  for (uint64_t i = 0; i < 100; ++i) pictures.Write(fmt::format("{}.jpg", i), FakePicture(i * 99));
  pictures.Update();
  const auto expected = ReadContent(pictures.Open());
  const fs::path index = LibraryFolder(pictures.library()).index();
  const std::string good = BytesOf(index);

  PictureFolder other;
  for (uint64_t i = 0; i < 100; ++i) other.Write(fmt::format("{}.jpg", i), FakePicture(i * 77));
  other.Update();
  std::vector<std::string> bad = {"", "text", good.substr(0, good.size() - 1), good + "x",
                                  BytesOf(LibraryFolder(other.library()).index())};
  for (size_t at = 0; at < good.size(); at += good.size() / 50) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] ^ 4);
  }
  for (const std::string& content : bad) {
    fs::remove(index);  // the old one may be mapped
    if (!content.empty()) std::ofstream(index, std::ios::binary) << content;
    EXPECT_EQ(ReadContent(pictures.Open()), expected);  // in memory
    EXPECT_EQ(fs::exists(index), !content.empty());     // readers change nothing
    pictures.Update();
    EXPECT_EQ(pictures.reads, 0);
    EXPECT_EQ(BytesOf(index), good);
  }
}

// A file that is damaged while it is in use, and what was changed since it was written.
TEST(LibraryIndex, DamageIsFoundBeforeAnAnswer) {
  PictureFolder pictures;
  for (uint64_t i = 0; i < 300; ++i) pictures.Write(fmt::format("{}.jpg", i), FakePicture(i * 99));
  pictures.Update();
  pictures.Write("new.jpg", FakePicture(1));
  pictures.Remove("7.jpg");
  pictures.Update();
  const auto expected = ReadContent(pictures.Open());
  const fs::path index = LibraryFolder(pictures.library()).index();
  std::string damaged = BytesOf(index);
  damaged[64 + 3] = static_cast<char>(damaged[64 + 3] ^ 1);  // inside the codes
  fs::remove(index);
  std::ofstream(index, std::ios::binary) << damaged;
  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  EXPECT_EQ(ReadContent(library->Snapshot()), expected);
  EXPECT_EQ(ReadContent(library->Snapshot()), expected);
  pictures.Write("another.jpg", FakePicture(2));
  pictures.Update();
  EXPECT_NE(BytesOf(index), damaged);
  EXPECT_EQ(ReadContent(library->Snapshot()).codes.size(), 301U);
  EXPECT_EQ(ReadContent(pictures.Open()).codes.size(), 301U);
}

// --- Cost -------------------------------------------------------------------------------------

// Counts what is read of a catalogue.
class CountingSnapshot : public CatalogueSnapshot {
 public:
  explicit CountingSnapshot(const CatalogueSnapshot& base) : base_(base) {}

  uint64_t generation() const override { return base_.generation(); }
  std::optional<CataloguedPicture> FindByPath(std::string_view path) const override {
    ++rows;
    return base_.FindByPath(path);
  }
  std::optional<CataloguedPicture> FindById(uint64_t id) const override {
    ++rows;
    return base_.FindById(id);
  }
  uint64_t Count() const override { return base_.Count(); }
  uint64_t FailedCount() const override { return base_.FailedCount(); }
  void ForEach(PictureSet set,
               const std::function<void(const CataloguedPicture&)>& visit) const override {
    base_.ForEach(set, [&](const CataloguedPicture& picture) {
      ++rows;
      visit(picture);
    });
  }
  bool ForEachChange(
      uint64_t since,
      const std::function<void(uint64_t, std::span<const uint8_t>)>& visit) const override {
    return base_.ForEachChange(since, [&](uint64_t id, std::span<const uint8_t> code) {
      ++rows;
      visit(id, code);
    });
  }
  std::optional<uint64_t> CountChanges(uint64_t since) const override {
    return base_.CountChanges(since);
  }
  std::optional<std::string> Setting(std::string_view key) const override {
    return base_.Setting(key);
  }
  std::vector<Decision> Decisions() const override { return base_.Decisions(); }

  mutable int rows = 0;

 private:
  const CatalogueSnapshot& base_;
};

// Counts the bytes that are written to files.
class CountingEnv : public testing::FaultyEnv {
 public:
  CountingEnv() : FaultyEnv(0) {}

  std::unique_ptr<OutputFile> CreateTemporary(const fs::path& folder) override {
    ++files;
    return FaultyEnv::CreateTemporary(folder);
  }

  std::atomic<int> files = 0;
};

// Pictures that are nowhere but in this list.
struct ImaginaryPictures {
  LibraryUpdate MakeUpdate(const fs::path& root) {
    LibraryUpdate update;
    update.root = root;
    for (const auto& [path, code] : codes) {
      update.found.push_back(
          {.path = path, .size = 10, .mtime_ns = static_cast<int64_t>(code >> 1)});
    }
    update.read = [this](const FoundPicture& found) {
      ++reads;
      return ToBytes(FakePicture(codes.at(found.path)));
    };
    update.encoding = FakeEncoding();
    update.encoding.thumbnail = nullptr;
    update.batch = 4096;
    return update;
  }

  std::map<std::string, uint64_t> codes;
  std::atomic<int> reads = 0;
};

TEST(LibraryIndex, TenPicturesCostInProportionToTen) {
  constexpr uint64_t kPictures = 50'000;
  const PictureFolder folder;
  ImaginaryPictures pictures;
  for (uint64_t i = 0; i < kPictures; ++i) {
    pictures.codes[fmt::format("{:06}.jpg", i)] = i * 0x9E3779B97F4A7C15;
  }
  CountingEnv env;
  const auto library = PictureLibrary::Create(env, folder.library(), folder.root());
  const auto update = [&] {
    return library->UpdateWith(pictures.MakeUpdate(folder.root()), RunContext({.threads = 1}));
  };
  EXPECT_EQ(update().added, kPictures);
  const LibraryFolder paths(folder.library());
  const auto index_time = fs::last_write_time(paths.index());
  LibraryIndex index(env, paths);
  {
    const LibrarySnapshot snapshot = library->Snapshot();
    const CountingSnapshot counting(snapshot.catalogue());
    EXPECT_EQ(index.BringTo(counting, snapshot.facts()).size(), static_cast<Index>(kPictures));
    EXPECT_EQ(counting.rows, 0);  // the file has them all
  }
  const uint64_t generation = library->Refresh();

  for (uint64_t i = 0; i < 10; ++i) pictures.codes[fmt::format("new{}.jpg", i)] = i;
  pictures.codes.erase("000777.jpg");
  pictures.codes["000999.jpg"] = 12345;
  pictures.reads = 0;
  env.files = 0;
  const int before = env.operations();
  EXPECT_EQ(update().added, 10U);
  EXPECT_EQ(pictures.reads, 11);
  EXPECT_EQ(env.files, 0);  // no file is written
  EXPECT_LT(env.operations() - before, 40);
  EXPECT_EQ(fs::last_write_time(paths.index()), index_time);

  const LibrarySnapshot snapshot = library->Snapshot();
  EXPECT_EQ(snapshot.catalogue().CountChanges(generation), 13U);  // two ids went, eleven came
  const CountingSnapshot counting(snapshot.catalogue());
  const IndexSnapshot followed = index.BringTo(counting, snapshot.facts());
  EXPECT_EQ(counting.rows, 13);
  LibraryIndex opened(env, paths);
  EXPECT_EQ(opened.BringTo(counting, snapshot.facts()).size(), followed.size());
  EXPECT_EQ(counting.rows, 26);
  EXPECT_EQ(followed.size(), static_cast<Index>(kPictures + 9));
  ReadContent(snapshot);  // checks that index and catalogue agree

  // A tenth is too much to be applied again and again.
  for (uint64_t i = 0; i < kPictures / 9; ++i) pictures.codes[fmt::format("more{}.jpg", i)] = i;
  EXPECT_EQ(update().added, kPictures / 9);
  const LibrarySnapshot later = library->Snapshot();
  EXPECT_NE(fs::last_write_time(paths.index()), index_time);
  EXPECT_EQ(later.facts().index_generation, later.catalogue().generation());
  const CountingSnapshot counting_later(later.catalogue());
  LibraryIndex reopened(env, paths);
  EXPECT_EQ(reopened.BringTo(counting_later, later.facts()).size(), later.index().size());
  EXPECT_EQ(counting_later.rows, 0);
  // The other index has fallen behind what the catalogue remembers, and takes the file.
  EXPECT_EQ(index.BringTo(counting_later, later.facts()).size(), later.index().size());
  EXPECT_EQ(counting_later.rows, 0);
}

}  // namespace
}  // namespace bitpool
