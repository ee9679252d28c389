#include "bitpool/io/damaged_files.h"

#include "bitpool/dataset/label_file.h"
#include "bitpool/dataset/neighbour_file.h"
#include "bitpool/dataset/oxford.h"
#include "bitpool/io/npy.h"
#include "bitpool/io/testing.h"

// Labels and ground truths have no checksums: a damaged one that still is such a file must be read
// as one.
namespace bitpool {
namespace {

using testing::ExpectNoHarm;
using testing::Pack;
using testing::TempFolder;

void Write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;  // thousands of times: without syncing
}

void JudgeAll(const GroundTruth& truth) {
  std::vector<Judgement> judged(static_cast<size_t>(truth.database_size()));
  for (Index query = 0; query < truth.query_count(); ++query) truth.Judge(query, judged);
}

TEST(DamagedFiles, Labels) {
  const TempFolder folder;
  const std::map<std::string, std::string> files = {
      {"labels.txt", "3\n0, 2\r\n\n7 1"},
      {"labels.npy", NpyHeader(DType::kI4, std::vector<uint64_t>{2}) + Pack(5, 6)},
      {"many.npy", NpyHeader(DType::kU1, std::vector<uint64_t>{2, 2}) + std::string("\1\0\0\1", 4)},
      {"labels.idx", std::string("\0\0\x08\x01\0\0\0\x03\1\2\3", 11)}};
  for (const auto& [name, good] : files) {
    ExpectNoHarm(good, name, [&](const std::string& bytes) {
      Write(folder / name, bytes);
      const Labels labels = LoadLabels(Env::Posix(), folder / name);
      EXPECT_LE(labels.class_count(), kMaxClasses);
    });
  }
}

TEST(DamagedFiles, Neighbours) {
  const TempFolder folder;
  const std::map<std::string, std::string> files = {
      {"near.npy", NpyHeader(DType::kI8, std::vector<uint64_t>{2, 2}) +
                       Pack(int64_t{1}, int64_t{-1}, int64_t{4}, int64_t{0})},
      {"near.ivecs", Pack(2, 0, 4, 2, 3, -1)}};
  for (const auto& [name, good] : files) {
    ExpectNoHarm(good, name, [&](const std::string& bytes) {
      Write(folder / name, bytes);
      JudgeAll(LoadNeighbours(Env::Posix(), folder / name, 5));
    });
  }
}

TEST(DamagedFiles, OxfordTruths) {
  const TempFolder folder;
  const std::map<std::string, std::string> files = {{"a_query.txt", "oxc1_one 1.5 2 30 4e1\n"},
                                                    {"a_good.txt", "two\nthree\n"},
                                                    {"a_ok.txt", "four\n"},
                                                    {"a_junk.txt", "five\n"}};
  for (const auto& [name, good] : files) Write(folder / name, good);
  for (const auto& [name, good] : files) {
    ExpectNoHarm(good, "a_", [&](const std::string& bytes) {
      Write(folder / name, bytes);
      JudgeAll(LoadOxfordTask(Env::Posix(), folder.path(),
                              {"one.jpg", "two.jpg", "three.jpg", "four.jpg", "five.jpg"})
                   .truth);
    });
    Write(folder / name, good);
  }
}

}  // namespace
}  // namespace bitpool
