#include "bitpool/dataset/oxford.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr std::string_view kQuerySuffix = "_query.txt";

std::vector<std::string_view> Words(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const size_t end = std::min(text.find_first_of(kSpace), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

class OxfordFolder {
 public:
  OxfordFolder(Env& env, std::filesystem::path folder, const std::vector<std::string>& names)
      : env_(env), folder_(std::move(folder)) {
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string stem = std::filesystem::path(names[i]).stem().string();
      if (!place_of_.emplace(stem, static_cast<Index>(i)).second) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("\"{}\": this picture appears twice", names[i]));
      }
    }
  }

  PictureQuery ReadQuery(const std::string& name) const {
    const std::filesystem::path path = folder_ / (name + std::string(kQuerySuffix));
    const auto view = env_.Map(path);
    const std::vector<std::string_view> words = Words(Text(*view));
    if (words.size() != 5) {
      throw Error(ErrorCode::kCorrupt, path.string(),
                  fmt::format("expected a picture and four numbers, found {} words", words.size()));
    }
    float numbers[4];
    for (size_t i = 0; i < 4; ++i) {
      const std::string_view word = words[i + 1];
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), numbers[i]);
      if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(numbers[i])) {
        throw Error(ErrorCode::kCorrupt, path.string(),
                    fmt::format("expected a finite number, found \"{}\"", word));
      }
    }
    const Box box{.left = numbers[0], .top = numbers[1], .right = numbers[2], .bottom = numbers[3]};
    if (!(box.left < box.right && box.top < box.bottom)) {
      throw Error(ErrorCode::kCorrupt, path.string(), "the box is empty");
    }
    std::string_view picture = words[0];
    if (picture.starts_with("oxc1_")) picture.remove_prefix(5);
    return {.name = name, .picture = Place(path, picture), .box = box};
  }

  // The pictures a file lists, one per line.
  std::vector<Index> ReadList(const std::string& file) const {
    const std::filesystem::path path = folder_ / file;
    const auto view = env_.Map(path);
    std::vector<Index> places;
    for (const std::string_view word : Words(Text(*view))) places.push_back(Place(path, word));
    return places;
  }

 private:
  static std::string_view Text(const FileView& view) {
    return {reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size()};
  }

  Index Place(const std::filesystem::path& file, std::string_view picture) const {
    const auto found = place_of_.find(std::string(picture));
    if (found == place_of_.end()) {
      throw Error(ErrorCode::kNotFound, file.string(),
                  fmt::format("picture \"{}\" is not in the database", picture));
    }
    return found->second;
  }

  Env& env_;
  std::filesystem::path folder_;
  std::unordered_map<std::string, Index> place_of_;
};

}  // namespace

RetrievalTask LoadOxfordTask(Env& env, const std::filesystem::path& folder,
                             const std::vector<std::string>& names) {
  const OxfordFolder oxford(env, folder, names);
  RetrievalTask task{.queries = {}, .truth = ListedTruth(static_cast<Index>(names.size()))};
  for (const std::string& file : env.List(folder)) {
    if (!file.ends_with(kQuerySuffix)) continue;
    const std::string name = file.substr(0, file.size() - kQuerySuffix.size());
    task.queries.push_back(oxford.ReadQuery(name));
    std::vector<Index> relevant = oxford.ReadList(name + "_good.txt");
    const std::vector<Index> ok = oxford.ReadList(name + "_ok.txt");
    relevant.insert(relevant.end(), ok.begin(), ok.end());
    std::vector<Index> junk = oxford.ReadList(name + "_junk.txt");
    InContext((folder / file).string(),
              [&] { task.truth.AddQuery(std::move(relevant), std::move(junk)); });
  }
  if (task.queries.empty()) {
    throw Error(ErrorCode::kNotFound, folder.string(),
                fmt::format("no ground truth here, expected files that end in {}", kQuerySuffix));
  }
  return task;
}

}  // namespace bitpool
