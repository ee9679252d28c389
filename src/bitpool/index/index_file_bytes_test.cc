#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/index/code_index.h"
#include "bitpool/index/index_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::TempFolder;

constexpr Index kFileCodes = 30000;
constexpr int kFileBits = 256;

// Codes around some centres, which are looked up, or anywhere, which are scanned.
BinaryCodes DrawCodes(bool clustered) {
  Random random(5);
  constexpr size_t kCentres = 1000;
  const size_t bytes = BytesPerCode(kFileBits);
  std::vector<uint8_t> centres(kCentres * bytes);
  for (uint8_t& byte : centres) byte = static_cast<uint8_t>(random.Next());
  std::vector<uint8_t> rows;
  for (Index i = 0; i < kFileCodes; ++i) {
    const size_t centre = random.Below(kCentres);
    for (size_t j = 0; j < bytes; ++j) {
      const uint64_t few =
          random.Next() & random.Next() & random.Next() & random.Next() & random.Next();
      rows.push_back(
          static_cast<uint8_t>(clustered ? centres[centre * bytes + j] ^ few : random.Next()));
    }
  }
  return {kFileBits, std::move(rows)};
}

std::string SavedBytes(const CodeIndex& index) {
  const TempFolder folder;
  SaveIndex(Env::Posix(), folder / "codes.bpi", index.Snapshot(), IfExists::kFail);
  std::ifstream file(folder / "codes.bpi", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What timing says, how many threads there are, and in how many parts codes were added must not
// show in a file.
TEST(IndexFileBytes, TheSameCodesGiveTheSameFile) {
  for (const bool clustered : {false, true}) {
    const BinaryCodes codes = DrawCodes(clustered);
    std::vector<int64_t> ids(static_cast<size_t>(kFileCodes));
    std::iota(ids.begin(), ids.end(), int64_t{7});
    std::string expected;
    for (const int threads : {1, 1, 2, 5}) {
      for (const size_t parts : {1, 3}) {
        CodeIndex index({.bits = kFileBits, .kind = IndexKind::kAuto, .threads = threads});
        for (size_t part = 0; part < parts; ++part) {
          const size_t begin = ids.size() * part / parts;
          const size_t end = ids.size() * (part + 1) / parts;
          BinaryCodes some(kFileBits);
          for (size_t i = begin; i < end; ++i) some.Append(codes.code(static_cast<Index>(i)));
          index.Add(some, std::span(ids).subspan(begin, end - begin));
        }
        EXPECT_EQ(index.Snapshot().Compacted()->tables() != nullptr, clustered);
        const std::string bytes = SavedBytes(index);
        ASSERT_FALSE(bytes.empty());
        if (expected.empty()) expected = bytes;
        // Not EXPECT_EQ, which would print megabytes.
        EXPECT_TRUE(bytes == expected) << threads << " threads, " << parts << " parts";
      }
    }
  }
}

}  // namespace
}  // namespace bitpool
