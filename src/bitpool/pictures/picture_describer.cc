#include "bitpool/pictures/picture_describer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/io/checksum.h"
#include "bitpool/pictures/network_file.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Must be increased with every change that gives other features for the same picture: in decoding,
// scaling or an extractor.
constexpr int kPreprocessingVersion = 1;

// The smallest side at which there can be a region to describe.
constexpr Index kLeastSide = 16;
constexpr Index kMostSide = 4096;  // 2²⁴ pixels, the limit of the extractors

DecodeOptions DecodingFor(const ExtractorSettings& settings) {
  DecodeOptions options;
  options.max_side = settings.max_side;
  if (settings.kind == "cnn")
    options.max_side = std::max<Index>(settings.max_side, settings.cnn.size);
  return options;
}

std::unique_ptr<const LocalExtractor> MakeExtractor(const ExtractorSettings& settings,
                                                    const NetworkBytes& network) {
  if (settings.kind == "hesaff") return std::make_unique<HessianAffineSift>(settings.hesaff);
  if (settings.kind == "dense") return std::make_unique<DenseSift>(settings.dense);
  return std::make_unique<CnnExtractor>(
      CnnFiles{.definition = network.definition, .weights = network.weights}, settings.cnn);
}

std::string DigestOf(const ExtractorSettings& settings, const NetworkBytes& network,
                     const std::optional<LocalPca>& reduction,
                     const std::optional<TriangulationEmbedding>& embedding) {
  std::string described = DescribeExtractor(settings).dump();
  const auto add = [&](std::span<const std::byte> bytes) {
    described += ' ' + ContentDigest(bytes);
  };
  if (settings.kind == "cnn") {
    add(network.definition);
    add(network.weights);
  }
  const auto add_parts = [&](const auto& parameters) {
    for (const auto& [name, matrix] : parameters) {
      described += fmt::format(" {} {}×{}", name, matrix.rows(), matrix.cols());
      add(std::as_bytes(std::span(matrix.data(), static_cast<size_t>(matrix.size()))));
    }
  };
  if (reduction) add_parts(reduction->Parameters());
  if (embedding) add_parts(embedding->Parameters());
  return ContentDigest(std::as_bytes(std::span(described)));
}

std::vector<std::byte> Copied(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

json DescribeHesaff(const HessianAffineOptions& options) {
  return {{"peak_threshold", options.peak_threshold},
          {"edge_threshold", options.edge_threshold},
          {"max_regions", options.max_regions},
          {"first_octave", options.first_octave},
          {"upright", options.upright},
          {"root", options.root}};
}

HessianAffineOptions ParseHesaff(const json& stored) {
  HessianAffineOptions options;
  stored.at("peak_threshold").get_to(options.peak_threshold);
  stored.at("edge_threshold").get_to(options.edge_threshold);
  stored.at("max_regions").get_to(options.max_regions);
  stored.at("first_octave").get_to(options.first_octave);
  stored.at("upright").get_to(options.upright);
  stored.at("root").get_to(options.root);
  return options;
}

json DescribeDense(const DenseSiftOptions& options) {
  json description = {{"step", options.step},
                      {"bin_sizes", options.bin_sizes},
                      {"magnification", options.magnification},
                      {"fast", options.fast},
                      {"contrast_threshold", options.contrast_threshold},
                      {"root", options.root}};
  // Described only where it is used: features without it keep the digest they always had.
  if (options.side != 0) description["side"] = options.side;
  return description;
}

DenseSiftOptions ParseDense(const json& stored) {
  DenseSiftOptions options;
  stored.at("step").get_to(options.step);
  stored.at("bin_sizes").get_to(options.bin_sizes);
  stored.at("magnification").get_to(options.magnification);
  stored.at("fast").get_to(options.fast);
  stored.at("contrast_threshold").get_to(options.contrast_threshold);
  stored.at("root").get_to(options.root);
  if (stored.contains("side")) stored["side"].get_to(options.side);
  return options;
}

json DescribeCnn(const CnnOptions& options) {
  return {{"layer", options.layer},
          {"size", options.size},
          {"mean", options.mean},
          {"scale", options.scale},
          {"rgb", options.rgb}};
}

CnnOptions ParseCnn(const json& stored) {
  CnnOptions options;
  stored.at("layer").get_to(options.layer);
  stored.at("size").get_to(options.size);
  stored.at("mean").get_to(options.mean);
  stored.at("scale").get_to(options.scale);
  stored.at("rgb").get_to(options.rgb);
  return options;
}

Error Damaged(const Error& error) {
  return error.As(ErrorCode::kCorrupt).In("how features are made");
}

Error Damaged(const std::string& problem) { return Damaged({ErrorCode::kCorrupt, problem}); }

DescribedPicture Failed(std::string reason) {
  DescribedPicture picture;
  picture.failure = std::move(reason);
  return picture;
}

DescribedPicture DescribeFile(Env& env, const PictureDescriber& describer, const ViewPlan& plan,
                              const fs::path& file) {
  try {
    const std::vector<std::byte> bytes = env.Read(file, MaxPictureBytes());
    const Picture decoded = describer.Decode(bytes);
    DescribedPicture picture;
    picture.features = describer.Describe(decoded);
    if (picture.features.cols() == 0) return Failed(kNoFeatures);
    for (const Picture& view : MakeViews(decoded, plan)) {
      MatrixF features = describer.Describe(view);
      picture.views.push_back(features.cols() == 0 ? picture.features : std::move(features));
    }
    picture.checksum = Checksum(bytes);
    picture.facts = describer.Inspect(bytes);
    return picture;
  } catch (const Error& error) {
    return Failed(error.MessageWithin(file.string()));
  }
}

}  // namespace

void ExtractorSettings::Validate() const {
  if (max_side < kLeastSide || max_side > kMostSide) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("max_side: expected {} to {} pixels, got {}", kLeastSide, kMostSide, max_side));
  }
  if (kind == "hesaff") return hesaff.Validate();
  if (kind == "dense") return dense.Validate();
  if (kind == "cnn") return cnn.Validate();
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("features: expected hesaff, dense or cnn, got \"{}\"", kind));
}

json DescribeExtractor(const ExtractorSettings& settings) {
  json description = {
      {"version", kPreprocessingVersion}, {"kind", settings.kind}, {"max_side", settings.max_side}};
  if (settings.kind == "hesaff") description["options"] = DescribeHesaff(settings.hesaff);
  if (settings.kind == "dense") description["options"] = DescribeDense(settings.dense);
  if (settings.kind == "cnn") description["options"] = DescribeCnn(settings.cnn);
  return description;
}

ExtractorSettings ParseExtractor(const json& description) {
  try {
    const int version = description.at("version").get<int>();
    if (version > kPreprocessingVersion) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("features of version {}: a newer Bitpool makes them, this one knows "
                              "version {}",
                              version, kPreprocessingVersion));
    }
    if (version < 1) throw Damaged(fmt::format("expected version 1 or more, got {}", version));
    ExtractorSettings settings;
    description.at("kind").get_to(settings.kind);
    description.at("max_side").get_to(settings.max_side);
    const json& options = description.at("options");
    if (settings.kind == "hesaff") settings.hesaff = ParseHesaff(options);
    if (settings.kind == "dense") settings.dense = ParseDense(options);
    if (settings.kind == "cnn") settings.cnn = ParseCnn(options);
    settings.Validate();
    return settings;
  } catch (const json::exception& error) {
    throw Damaged(std::string(error.what()));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidArgument) throw Damaged(error);
    throw;
  }
}

struct PictureDescriber::State {
  ExtractorSettings settings;
  std::shared_ptr<const NetworkBytes> network;
  std::shared_ptr<const LocalExtractor> extractor;
  std::optional<LocalPca> reduction;
  std::optional<TriangulationEmbedding> embedding;
  std::string digest;

  Index reduced_dimension() const {
    return reduction ? reduction->dimension() : extractor->dimension();
  }

  // Checks the reduction and sets the digest.
  void Reduce(LocalPca by) {
    if (by.input_dimension() != extractor->dimension()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("a local PCA of {} dimensions for features of {}",
                              by.input_dimension(), extractor->dimension()));
    }
    reduction = std::move(by);
    digest = DigestOf(settings, *network, reduction, embedding);
  }

  // Checks the embedding and sets the digest.
  void Embed(std::optional<TriangulationEmbedding> by) {
    if (by && by->input_dimension() != reduced_dimension()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("an embedding of {} dimensions for features of {}",
                              by->input_dimension(), reduced_dimension()));
    }
    embedding = std::move(by);
    digest = DigestOf(settings, *network, reduction, embedding);
  }
};

PictureDescriber::PictureDescriber(std::shared_ptr<const State> state) : state_(std::move(state)) {}

PictureDescriber::PictureDescriber(const ExtractorSettings& settings, NetworkBytes network,
                                   std::optional<TriangulationEmbedding> embedding) {
  settings.Validate();
  auto state = std::make_shared<State>();
  state->settings = settings;
  state->network = std::make_shared<NetworkBytes>(std::move(network));
  state->extractor = MakeExtractor(settings, *state->network);
  state->Embed(std::move(embedding));
  state_ = std::move(state);
}

PictureDescriber PictureDescriber::Open(Env& env, const ExtractorSettings& settings) {
  settings.Validate();
  if (settings.kind != "cnn") return {settings, {}, std::nullopt};
  const CnnPaths& paths = settings.network;
  if (paths.definition.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "features of kind cnn: expected the files of a network");
  }
  const MappedNetwork mapped(env, paths);
  NetworkBytes network = {.definition = Copied(mapped.files().definition),
                          .weights = Copied(mapped.files().weights)};
  return InContext(paths.definition.string(),
                   [&] { return PictureDescriber(settings, std::move(network), std::nullopt); });
}

const ExtractorSettings& PictureDescriber::settings() const { return state_->settings; }
const NetworkBytes& PictureDescriber::network() const { return *state_->network; }
const std::optional<LocalPca>& PictureDescriber::reduction() const { return state_->reduction; }
const std::optional<TriangulationEmbedding>& PictureDescriber::embedding() const {
  return state_->embedding;
}
const std::string& PictureDescriber::digest() const { return state_->digest; }

Index PictureDescriber::dimension() const {
  return state_->embedding ? state_->embedding->dimension() : state_->reduced_dimension();
}

bool PictureDescriber::gives_one_vector() const { return state_->extractor->gives_one_vector(); }

PictureDescriber PictureDescriber::WithReduction(LocalPca reduction) const {
  auto state = std::make_shared<State>(*state_);
  state->Reduce(std::move(reduction));
  return PictureDescriber(std::move(state));
}

PictureDescriber PictureDescriber::WithEmbedding(
    std::optional<TriangulationEmbedding> embedding) const {
  auto state = std::make_shared<State>(*state_);
  state->Embed(std::move(embedding));
  return PictureDescriber(std::move(state));
}

Picture PictureDescriber::Decode(std::span<const std::byte> bytes) const {
  return DecodePicture(bytes, DecodingFor(state_->settings));
}

PictureFacts PictureDescriber::Inspect(std::span<const std::byte> bytes) const {
  return InspectPicture(bytes, DecodingFor(state_->settings));
}

MatrixF PictureDescriber::Describe(const Picture& picture) const {
  MatrixF features = state_->extractor->Extract(picture);
  if (state_->reduction) features = state_->reduction->Apply(features);
  if (state_->embedding) return state_->embedding->Apply(features);
  return features;
}

uint64_t MaxPictureBytes() { return DecodeOptions().max_bytes; }

void DescribePictures(Env& env, const PictureDescriber& describer,
                      const std::vector<fs::path>& files, Progress& progress,
                      const RunContext& context,
                      const std::function<void(size_t, const DescribedPicture&)>& take,
                      const ViewPlan& plan) {
  size_t next = 0;
  std::atomic<size_t> failed = 0;
  context.pool().OrderedReduce(
      files.size(), 1, DescribedPicture(),
      [&](DescribedPicture& picture, size_t i, size_t /*end*/) {
        context.ThrowIfStopped();
        picture = DescribeFile(env, describer, plan, files[i]);
        if (picture.failure.empty()) {
          progress.Advance();
        } else {
          progress.Advance(1, fmt::format("{} failed", ++failed));
        }
      },
      [&](const DescribedPicture& picture) { take(next++, picture); });
}

}  // namespace bitpool
