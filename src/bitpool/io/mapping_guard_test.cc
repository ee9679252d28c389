#include "bitpool/io/mapping_guard.h"

#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <numeric>
#include <thread>
#include <vector>

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/container.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;
using testing::ToBytes;

constexpr size_t kPages = 64, kPage = 4096;

// A file of ones, mapped.
std::shared_ptr<const FileView> MapOnes(const std::filesystem::path& path, size_t length) {
  WriteFile(Env::Posix(), path, std::vector<std::byte>(length, std::byte{1}), IfExists::kReplace);
  return Env::Posix().Map(path);
}

int Sum(std::span<const std::byte> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0,
                         [](int sum, std::byte byte) { return sum + static_cast<int>(byte); });
}

TEST(MappingGuard, WhatIsGoneReadsAsZerosAndIsReported) {
  const TempFolder folder;
  const auto view = MapOnes(folder / "f", kPages * kPage);
  RequireWhole(view->bytes());
  std::filesystem::resize_file(folder / "f", 10 * kPage);
  EXPECT_EQ(Sum(view->bytes()), 10 * static_cast<int>(kPage));
  for (int time = 0; time < 2; ++time) {
    ExpectError(ErrorCode::kIo, {(folder / "f").string(), "cut off by someone else"},
                [&] { RequireWhole(view->bytes()); });
  }
}

TEST(MappingGuard, ACutWithinTheLastPageIsReportedToo) {
  const TempFolder folder;
  const auto view = MapOnes(folder / "f", kPage);
  std::filesystem::resize_file(folder / "f", kPage - 1);
  EXPECT_EQ(Sum(view->bytes()), static_cast<int>(kPage) - 1) << "no signal here, only a zero";
  ExpectError(ErrorCode::kIo, {"cut off"}, [&] { RequireWhole(view->bytes()); });
}

TEST(MappingGuard, AFileThatIsReplacedOrGrowsIsWhole) {
  const TempFolder folder;
  const auto view = MapOnes(folder / "f", kPage);
  MapOnes(folder / "f", 1);  // another file under its name
  EXPECT_EQ(Sum(view->bytes()), static_cast<int>(kPage));
  RequireWhole(view->bytes());
  const auto longer = MapOnes(folder / "g", kPage);
  std::filesystem::resize_file(folder / "g", 2 * kPage);
  RequireWhole(longer->bytes());
  RequireMappedFilesWhole();
}

TEST(MappingGuard, NothingIsWrittenFromWhatWasNotThere) {
  const TempFolder folder;
  auto view = MapOnes(folder / "f", kPages * kPage);
  const auto save = [&] {
    WriteFile(Env::Posix(), folder / "out", ToBytes("made from f"), IfExists::kReplace);
  };
  save();
  std::filesystem::remove(folder / "out");
  std::filesystem::resize_file(folder / "f", 0);
  Sum(view->bytes());
  view.reset();
  ExpectError(ErrorCode::kIo, {"/f", "cut off"}, save);  // closed, and nobody knew
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  save();  // once is enough
  view = MapOnes(folder / "f", kPages * kPage);
  std::filesystem::resize_file(folder / "f", 0);
  for (int time = 0; time < 2; ++time) ExpectError(ErrorCode::kIo, {"/f", "cut off"}, save);
  view.reset();  // it is known
  save();
}

TEST(MappingGuard, ManyThreadsAndFiles) {
  const TempFolder folder;
  std::vector<std::shared_ptr<const FileView>> views;
  for (int i = 0; i < 600; ++i) {  // more than fit the first chunk of the registry
    views.push_back(MapOnes(folder / std::to_string(i), 2 * kPage));
  }
  MapOnes(folder / "more", 1);
  for (int i = 0; i < 600; i += 3) {
    std::filesystem::resize_file(folder / std::to_string(i), kPage);
  }
  std::atomic<int> sum = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&] {
        for (const auto& view : views) sum += Sum(view->bytes());
        for (int i = 0; i < 50; ++i) Env::Posix().Map(folder / "more");
      });
    }
  }
  EXPECT_EQ(sum, 8 * static_cast<int>(kPage) * (600 + 400));
  for (size_t i = 0; i < views.size(); ++i) {
    if (i % 3 != 0) RequireWhole(views[i]->bytes());
  }
  views.clear();
  ExpectError(ErrorCode::kIo, {"cut off"}, [] { RequireMappedFilesWhole(); });
}

TEST(MappingGuard, ReadersSayWhatHappened) {
  const TempFolder folder;
  const std::vector<float> ones(1 << 18, 1.0F);
  ContainerWriter writer(Env::Posix(), folder / "c", "vectors", IfExists::kFail);
  writer.Add<float>("data", {ones.size()}, ones);
  writer.Commit({});
  const Container container = Container::Open(Env::Posix(), folder / "c");
  const auto size = std::filesystem::file_size(folder / "c");
  std::filesystem::resize_file(folder / "c", size / 2);
  ExpectError(ErrorCode::kIo, {"/c", "cut off"}, [&] { container.ReadArray<float>("data", 1); });
}

// A SIGBUS of someone else's mapping is someone else's.
TEST(MappingGuardDeathTest, OtherMappingsAreLeftAlone) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer answers this signal by itself";
#endif
  const TempFolder folder;
  const auto view = MapOnes(folder / "f", kPage);
  EXPECT_EXIT(
      {
        std::FILE* file = std::fopen((folder / "f").c_str(), "r");
        const void* data = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fileno(file), 0);
        std::filesystem::resize_file(folder / "f", 0);
        _exit(*static_cast<const volatile char*>(data));
      },
      ::testing::KilledBySignal(SIGBUS), "");
  ExpectError(ErrorCode::kIo, {"cut off"}, [&] { RequireWhole(view->bytes()); });
}

}  // namespace
}  // namespace bitpool
