#include "bitpool/dataset/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

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
        throw Error(ErrorCode::kCorrupt, fmt::format("{}: row {}, column {}: {}, expected 0 or 1",
                                                     file.name(), item, c, row[c]));
      }
      if (row[c] == 1) classes[item].push_back(static_cast<int32_t>(c));
    }
  }
  return classes;
}

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
    if (error != std::errc() || value < 0) {
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("{}: line {}: expected class numbers from 0, found \"{}\"", file,
                              number, line));
    }
    classes.push_back(value);
    position = next;
  }
}

}  // namespace

Labels Labels::Single(const std::vector<int32_t>& classes) {
  Labels labels;
  for (const int32_t c : classes) labels.Add({c});
  return labels;
}

Labels Labels::Multi(const std::vector<std::vector<int32_t>>& classes) {
  Labels labels;
  for (const std::vector<int32_t>& item : classes) labels.Add(item);
  return labels;
}

void Labels::Add(std::vector<int32_t> classes) {
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  if (!classes.empty() && classes.front() < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("labels: item {} has class {}, expected a number from 0", size(),
                            classes.front()));
  }
  if (!classes.empty()) class_count_ = std::max<Index>(class_count_, Index{classes.back()} + 1);
  single_ = single_ && classes.size() == 1;
  classes_.insert(classes_.end(), classes.begin(), classes.end());
  ends_.push_back(classes_.size());
}

std::span<const int32_t> Labels::of(Index item) const {
  const auto i = static_cast<size_t>(item);
  const uint64_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::span(classes_).subspan(begin, ends_[i] - begin);
}

Labels Labels::Select(const std::vector<Index>& items) const {
  Labels selected;
  for (const Index item : items) {
    const std::span<const int32_t> classes = of(item);
    selected.Add({classes.begin(), classes.end()});
  }
  return selected;
}

bool ShareClass(std::span<const int32_t> a, std::span<const int32_t> b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) return true;
    if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

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
    const auto negative =
        std::find_if(classes.begin(), classes.end(), [](int32_t c) { return c < 0; });
    if (negative != classes.end()) {
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("{}: item {} has class {}, expected a number from 0", path.string(),
                              negative - classes.begin(), *negative));
    }
    return Labels::Single(classes);
  }
  if (file.sample_shape().size() == 1) return Labels::Multi(FromIndicators(file));
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "{}: {} dimensions, expected one (a class per item) or two (0 and 1 per item and class)",
          path.string(), file.sample_shape().size() + 1));
}

}  // namespace bitpool
