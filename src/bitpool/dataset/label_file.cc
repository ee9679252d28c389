#include "bitpool/dataset/label_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/io/cifar.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool {
namespace {

std::vector<std::vector<int32_t>> FromIndicators(const SampleFile& file) {
  std::vector<std::vector<int32_t>> classes(file.count());
  std::vector<int32_t> row(file.dimension());
  for (uint64_t item = 0; item < file.count(); ++item) {
    file.Read<int32_t>(item, 1, std::span(row));
    for (size_t c = 0; c < row.size(); ++c) {
      if (row[c] != 0 && row[c] != 1) {
        throw Error(ErrorCode::kCorrupt, file.name(),
                    fmt::format("row {}, column {}: {}, expected 0 or 1", item, c, row[c]));
      }
      if (row[c] == 1) classes[item].push_back(static_cast<int32_t>(c));
    }
  }
  return classes;
}

bool IsClass(int32_t number) { return number >= 0 && number < kMaxClasses; }

std::vector<int32_t> ParseLine(const std::string& file, size_t number, std::string_view line) {
  std::vector<int32_t> classes;
  const char* position = line.data();
  const char* end = line.data() + line.size();
  while (true) {
    while (position != end &&
           (*position == ' ' || *position == ',' || *position == '\t' || *position == '\r')) {
      ++position;
    }
    if (position == end) return classes;
    int32_t value = 0;
    const auto [next, error] = std::from_chars(position, end, value);
    if (error != std::errc() || !IsClass(value)) {
      throw Error(ErrorCode::kCorrupt, file,
                  fmt::format("line {}: expected class numbers from 0 to {}, found \"{}\"", number,
                              kMaxClasses - 1, line));
    }
    classes.push_back(value);
    position = next;
  }
}

}  // namespace

Labels ParseTextLabels(const FileView& view) {
  std::string_view text(reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size());
  std::vector<std::vector<int32_t>> classes;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    classes.push_back(ParseLine(view.name(), classes.size() + 1, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Labels::Multi(classes);
}

Labels LoadLabels(Env& env, const std::filesystem::path& path) {
  if (path.extension() == ".txt") return ParseTextLabels(*env.Map(path));
  const SampleFile file =
      path.extension() == ".bin" ? ParseCifar(env.Map(path)).labels : OpenSamples(env, path);
  if (file.sample_shape().empty()) {
    const std::vector<int32_t> classes = file.ReadAll<int32_t>();
    const auto bad = std::ranges::find_if_not(classes, IsClass);
    if (bad != classes.end()) {
      throw Error(ErrorCode::kCorrupt, path.string(),
                  fmt::format("item {} has class {}, expected a number from 0 to {}",
                              bad - classes.begin(), *bad, kMaxClasses - 1));
    }
    return Labels::Single(classes);
  }
  if (file.sample_shape().size() == 1) return Labels::Multi(FromIndicators(file));
  throw Error(
      ErrorCode::kInvalidArgument, path.string(),
      fmt::format(
          "{} dimensions, expected one (a class per item) or two (0 and 1 per item and class)",
          file.sample_shape().size() + 1));
}

}  // namespace bitpool
