#include "bitpool/io/file_view.h"

#include <sys/mman.h>
#include <unistd.h>

#include "bitpool/io/env.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::TempFolder;
using testing::ToBytes;

TEST(FileView, BytesBeginWhereVectorsMayBeRead) {
  for (const size_t length : {1, 63, 64, 65, 1000}) {
    std::vector<std::byte> bytes(length);
    for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 7);
    const auto view = FileView::FromBytes("some.bpi", bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(view->bytes().data()) % 64, 0U);
    EXPECT_TRUE(std::ranges::equal(view->bytes(), bytes));
  }
}

TEST(FileView, HoldsBytesUnderAName) {
  const auto view = FileView::FromBytes("some.npy", ToBytes("abc"));
  EXPECT_EQ(view->name(), "some.npy");
  EXPECT_EQ(testing::ToString(view->bytes()), "abc");
  view->NoteTouched(size_t{1} << 40);  // nothing to give back
  EXPECT_EQ(testing::ToString(view->bytes()), "abc");
}

// Pages of the mapping that are in memory for this process.
size_t ResidentPages(std::span<const std::byte> bytes) {
  FILE* file = std::fopen("/proc/self/smaps", "r");
  char line[512];
  const std::string wanted = [&] {
    char text[32];
    std::snprintf(text, sizeof(text), "%lx-", reinterpret_cast<unsigned long>(bytes.data()));
    return std::string(text);
  }();
  bool inside = false;
  size_t kilobytes = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::string_view(line).starts_with(wanted)) inside = true;
    if (inside && std::string_view(line).starts_with("Rss:")) {
      kilobytes = std::strtoul(line + 4, nullptr, 10);
      break;
    }
  }
  std::fclose(file);
  return kilobytes / 4;
}

TEST(FileView, GivesPagesBackAfterTheBudget) {
  const TempFolder folder;
  {
    const auto file = Env::Posix().CreateTemporary(folder.path());
    file->Append(std::vector<std::byte>(1 << 20, std::byte{7}));
    file->LinkAs(folder / "large");
  }
  const auto view = Env::Posix().Map(folder / "large");
  const auto touch = [&] {
    int sum = 0;
    for (size_t i = 0; i < view->bytes().size(); i += 512)
      sum += std::to_integer<int>(view->bytes()[i]);
    return sum;
  };
  EXPECT_EQ(touch(), 7 * 2048);
  EXPECT_GT(ResidentPages(view->bytes()), 200U);
  view->NoteTouched(FileView::kResidentBudget - 1);
  EXPECT_GT(ResidentPages(view->bytes()), 200U);
  view->NoteTouched(1);
  EXPECT_EQ(ResidentPages(view->bytes()), 0U);
  EXPECT_EQ(touch(), 7 * 2048);  // and they come back
}

}  // namespace
}  // namespace bitpool
