#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/io/damaged_files.h"
#include "bitpool/io/file_view.h"

// What the tests of this room and the rooms above share.
namespace bitpool::testing {

// An empty folder that is removed at the end of the test.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "bitpool-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(ErrorCode::kIo, "cannot make a folder for the test");
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::byte> ToBytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::string ToString(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The bytes of numbers, one after the other, little-endian.
template <class... Numbers>
std::string Pack(Numbers... numbers) {
  std::string text;
  (text.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
  return text;
}

inline std::shared_ptr<const FileView> View(std::string_view text, std::string name = "test") {
  return FileView::FromBytes(std::move(name), ToBytes(text));
}

// Runs `action` and checks that it throws Error with this code and a message that contains every
// one of the words.
template <class Action>
void ExpectError(ErrorCode code, const std::vector<std::string>& words, const Action& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(ErrorCodeName(error.code()), ErrorCodeName(code)) << error.what();
    for (const std::string& word : words) {
      EXPECT_NE(std::string_view(error.what()).find(word), std::string_view::npos)
          << "expected \"" << word << "\" in: " << error.what();
    }
  }
}

// Checks that `open`, which reads everything a file holds, rejects every damaged form of it
// (ForEachDamage). The message must name the place.
template <class Open>
void ExpectEveryDamageIsRejected(const std::string& good, const Open& open) {
  open(View(good));  // the undamaged file is fine
  ForEachDamage(good, [&](const std::string& damaged, const std::string& what) {
    try {
      open(View(damaged));
      ADD_FAILURE() << what << ": was not noticed";
    } catch (const Error& error) {
      const std::string_view message = error.what();
      EXPECT_EQ(ErrorCodeName(error.code()), "corrupt") << what << ": " << message;
      const bool named = message.find("section \"") != std::string_view::npos ||
                         message.find("header:") != std::string_view::npos ||
                         message.find("table") != std::string_view::npos ||
                         message.find("block checksums:") != std::string_view::npos;
      EXPECT_TRUE(named) << what << ": " << message;
    }
  });
}

}  // namespace bitpool::testing
