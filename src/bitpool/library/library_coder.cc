#include "bitpool/library/library_coder.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/checksum.h"
#include "bitpool/pictures/network_coder.h"
#include "bitpool/pictures/shipped_coder.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// A digest names a file, and a catalogue may come from anywhere.
bool IsDigest(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

bool HasCoder(Env& env, const LibraryFolder& folder, const std::string& digest) {
  return IsDigest(digest) && env.Exists(folder.coder(digest));
}

void RequireEnough(size_t pictures) {
  if (static_cast<Index>(pictures) >= kLeastPicturesToLearn) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} pictures are too few to learn from: expected {} or more; the coder "
                          "that ships with the program serves any number",
                          pictures, kLeastPicturesToLearn));
}

// What can be known before pictures are read.
void RequireLearnable(Env& env, const CoderChoice& choice) {
  if (choice.found.empty()) {
    throw Error(ErrorCode::kNotFound, choice.root.string(), "no pictures here");
  }
  if (choice.network) MappedNetwork(env, choice.network->files);
  if (choice.learn) RequireEnough(choice.found.size());
}

ChosenCoder TrainOn(const LibraryWriter& writer, const CoderChoice& choice,
                    const RunContext& context) {
  const int bits = choice.bits.value_or(kShippedBits);
  CoderTraining training = choice.network ? SceneTraining(*choice.network) : CoderTraining();
  training.hash.bits = bits;
  if (choice.learn) training = TrainingLikeShipped(*choice.learn, bits);
  std::vector<fs::path> paths;
  paths.reserve(choice.found.size());
  for (const FoundPicture& picture : choice.found) paths.push_back(choice.root / picture.path);
  TrainedCoder trained =
      TrainCoder(writer.env(), training, paths, writer.folder().training(), context);
  // A library keeps its coder, so half a training is no use.
  if (trained.summary.interrupted) throw Error(ErrorCode::kCancelled, "interrupted");
  return {.coder = std::move(trained.coder), .codes = std::move(trained.codes)};
}

// The library's own coder, if it has one; of several, the one that was chosen last.
std::optional<fs::path> OwnCoder(Env& env, const LibraryFolder& folder,
                                 const std::optional<LibraryFacts>& facts) {
  if (facts) {
    for (const std::string& digest : {facts->next_coder, facts->coder}) {
      if (HasCoder(env, folder, digest)) return folder.coder(digest);
    }
  }
  if (env.Exists(folder.first_version_coder())) return folder.first_version_coder();
  return std::nullopt;
}

PictureCoder OpenNamedCoder(Env& env, const fs::path& path, std::optional<int> bits) {
  PictureCoder coder = OpenCoder(env, path);
  if (!bits || *bits == coder.bits()) return coder;
  throw Error(ErrorCode::kInvalidArgument, path.string(),
              fmt::format("codes of {} bits: this coder has {}; expected that, or another coder",
                          *bits, coder.bits()));
}

PictureCoder OpenOwnCoder(Env& env, const fs::path& path, std::optional<int> bits) {
  PictureCoder coder = OpenCoder(env, path);
  if (!bits || *bits == coder.bits()) return coder;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("codes of {} bits: the library's coder has {}; expected that, or another "
                          "coder, or another library",
                          *bits, coder.bits()));
}

// Whether a coder has the features that a coder learned with this network would have.
bool HasFeaturesOf(Env& env, const fs::path& path, const NamedNetwork& network) {
  const PictureCoder coder = OpenCoder(env, path);
  const ExtractorSettings& has = coder.describer().settings();
  if (DescribeExtractor(has) != DescribeExtractor(SceneTraining(network).extractor)) return false;
  const MappedNetwork mapped(env, network.files);
  return std::ranges::equal(coder.describer().network().definition, mapped.files().definition) &&
         std::ranges::equal(coder.describer().network().weights, mapped.files().weights);
}

void KeepCoder(const LibraryWriter& writer, const PictureCoder& coder) {
  const fs::path path = writer.folder().coder(coder.digest());
  if (writer.env().Exists(path)) return;
  try {
    SaveCoder(writer.env(), path, coder, IfExists::kFail);
  } catch (const Error&) {
    if (!writer.env().Exists(path)) throw;  // otherwise another writer was faster
  }
}

}  // namespace

PictureCoder OpenLibraryCoder(Env& env, const LibraryFolder& folder, const LibraryFacts& facts) {
  const bool named = HasCoder(env, folder, facts.coder);
  const fs::path path = named ? folder.coder(facts.coder) : folder.first_version_coder();
  if (!named && !env.Exists(path)) {
    throw Error(ErrorCode::kNotFound,
                fmt::format("{}: the coder that made the codes is not there; `bitpool index` makes "
                            "them again with another",
                            folder.name()));
  }
  PictureCoder coder = OpenCoder(env, path);
  if (coder.digest() == facts.coder) return coder;
  throw Error(ErrorCode::kCorrupt,
              fmt::format("{}: the codes were made with another coder; `bitpool index` makes them "
                          "again",
                          folder.name()));
}

PictureCode ChosenCoder::Encode(std::span<const std::byte> bytes) const {
  if (codes.empty()) return coder.Encode(bytes);
  const auto known = codes.find(Checksum(bytes));
  return known == codes.end() ? coder.Encode(bytes) : known->second;
}

PlannedCoder PlanCoder(Env& env, const LibraryFolder& folder,
                       const std::optional<LibraryFacts>& facts, const CoderChoice& choice) {
  if (!choice.coder.empty()) return {.coder = OpenNamedCoder(env, choice.coder, choice.bits)};
  const std::optional<fs::path> own = choice.learn ? std::nullopt : OwnCoder(env, folder, facts);
  if (own && (!choice.network || HasFeaturesOf(env, *own, *choice.network))) {
    return {.coder = OpenOwnCoder(env, *own, choice.bits),
            .of_first_version = *own == folder.first_version_coder()};
  }
  if (choice.learn || choice.network || (choice.bits && *choice.bits != kShippedBits)) {
    RequireLearnable(env, choice);
    return {};
  }
  return {.coder = ShippedCoder()};
}

ChosenCoder ChooseCoder(const LibraryWriter& writer, const CoderChoice& choice,
                        const RunContext& context) {
  Env& env = writer.env();
  const LibraryFolder& folder = writer.folder();
  PlannedCoder planned = PlanCoder(env, folder, writer.ReadFacts(), choice);
  if (planned.of_first_version) {
    env.Rename(folder.first_version_coder(), folder.coder(planned.coder->digest()));
    env.SyncFolder(folder.path());
  }
  ChosenCoder chosen = planned.coder ? ChosenCoder{.coder = *std::move(planned.coder)}
                                     : TrainOn(writer, choice, context);
  KeepCoder(writer, chosen.coder);
  return chosen;
}

}  // namespace bitpool
