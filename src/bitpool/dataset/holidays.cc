#include "bitpool/dataset/holidays.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

int64_t PictureNumber(const std::string& name) {
  const std::string stem = std::filesystem::path(name).stem().string();
  int64_t number = -1;
  const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
  if (error != std::errc() || end != stem.data() + stem.size() || number < 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "\"{}\": expected a Holidays picture, whose name is a number such as 100201.jpg",
            name));
  }
  return number;
}

}  // namespace

RetrievalTask MakeHolidaysTask(const std::vector<std::string>& names) {
  std::map<int64_t, Index> place_of;  // by number: groups lie together
  for (const std::string& name : names) {
    if (!place_of.emplace(PictureNumber(name), static_cast<Index>(place_of.size())).second) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("\"{}\": this picture appears twice", name));
    }
  }
  RetrievalTask task{.queries = {}, .truth = ListedTruth(static_cast<Index>(names.size()))};
  for (const auto& [number, place] : place_of) {
    if (number % 100 != 0) continue;
    std::vector<Index> relevant;
    for (auto other = place_of.upper_bound(number);
         other != place_of.end() && other->first < number + 100; ++other) {
      relevant.push_back(other->second);
    }
    if (relevant.empty()) continue;
    task.queries.push_back(
        {.name = names[static_cast<size_t>(place)], .picture = place, .box = {}});
    task.truth.AddQuery(std::move(relevant), {place});
  }
  return task;
}

}  // namespace bitpool
