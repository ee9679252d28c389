#include "bitpool/pictures/network_coder.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/hash/itq.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Enough for the closed form (docs/networks.md), and as much as one is willing to wait for.
constexpr Index kScenePictures = 300;
constexpr Index kSceneViews = 4;

PictureDescriber OpenNetwork(Env& env, const CodeNetwork& network) {
  ExtractorSettings settings;
  settings.kind = "cnn";
  settings.network = network.files;
  settings.cnn = network.options;
  if (settings.cnn.layer.empty()) {
    const MappedNetwork mapped(env, network.files);
    settings.cnn.layer =
        InContext(network.files.definition.string(), [&] { return OutputLayer(mapped.files()); });
  }
  PictureDescriber describer = PictureDescriber::Open(env, settings);
  if (!describer.gives_one_vector() || describer.dimension() > kMaxBits) {
    throw Error(
        ErrorCode::kInvalidArgument, network.files.definition.string(),
        fmt::format("layer {}: expected one vector of at most {} numbers for a picture, "
                    "got {} of {}",
                    settings.cnn.layer, kMaxBits, describer.gives_one_vector() ? "one" : "several",
                    describer.dimension()));
  }
  return describer;
}

// The signs of the numbers as they are.
HashModel SignModel(Index outputs, double threshold) {
  const VectorF level = VectorF::Constant(outputs, static_cast<float>(threshold));
  return {.method = "network",
          .encoder = std::make_shared<LinearEncoder>(
              LinearMap{.weights = MatrixF::Identity(outputs, outputs), .bias = -level}),
          .decoder = {.weights = MatrixF::Identity(outputs, outputs), .bias = level}};
}

// The network's outputs for the pictures, one per column.
MatrixF Outputs(Env& env, const PictureDescriber& describer, const std::vector<fs::path>& pictures,
                std::vector<FailedPicture>& failed, const RunContext& context) {
  std::vector<VectorF> columns;
  Progress progress = context.StartProgress("describing", "pictures", pictures.size());
  DescribePictures(env, describer, pictures, progress, context,
                   [&](size_t i, const DescribedPicture& picture) {
                     if (picture.failure.empty()) {
                       columns.emplace_back(picture.features.col(0));
                     } else {
                       failed.push_back({.path = pictures[i], .reason = picture.failure});
                     }
                   });
  MatrixF outputs(describer.dimension(), static_cast<Index>(columns.size()));
  for (size_t i = 0; i < columns.size(); ++i) outputs.col(static_cast<Index>(i)) = columns[i];
  return outputs;
}

}  // namespace

CoderTraining SceneTraining(const NamedNetwork& network) {
  CoderTraining training;
  training.extractor.kind = "cnn";
  training.extractor.network = network.files;
  training.extractor.cnn = network.scenes.options;
  training.reduced = network.scenes.reduced;
  training.hash.method = "itq";
  training.hash.options["whiten"] = 1;
  training.views = {.count = kSceneViews, .kind = ViewKind::kScenes};
  training.pictures = kScenePictures;
  return training;
}

void CodeNetwork::Validate() const {
  if (!std::isfinite(static_cast<float>(threshold))) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("threshold: expected a finite number in single precision, got {}", threshold));
  }
  if (rotate_on.empty() && bits != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "bits: expected pictures to learn a rotation from; without, there are as many as "
                "the network has outputs");
  }
  if (!rotate_on.empty() && threshold != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "threshold: a rotation takes the mean off instead; expected one or the other");
  }
  if (bits != 0) RequireBits(bits);
}

MadeCoder CoderFromNetwork(Env& env, const CodeNetwork& network, const RunContext& context) {
  network.Validate();
  PictureDescriber describer = OpenNetwork(env, network);
  nlohmann::json story = {{"network", network.files.definition.filename().string()}};
  if (network.rotate_on.empty()) {
    HashModel model = SignModel(describer.dimension(), network.threshold);
    return {.coder = {std::move(describer), {.model = std::move(model), .training = story}},
            .failed = {}};
  }
  if (network.bits > describer.dimension()) {
    throw Error(ErrorCode::kInvalidArgument, network.files.definition.string(),
                fmt::format("codes of {} bits: expected at most {}, the outputs of layer {}",
                            network.bits, describer.dimension(), describer.settings().cnn.layer));
  }
  std::vector<FailedPicture> failed;
  const MatrixF outputs = Outputs(env, describer, network.rotate_on, failed, context);
  const int bits = network.bits == 0 ? static_cast<int>(describer.dimension()) : network.bits;
  Trained<HashModel> trained = TrainItq({.bits = bits}, MatrixColumns(outputs), context);
  story["pictures"] = outputs.cols();
  return {.coder = {std::move(describer), {.model = std::move(trained.model), .training = story}},
          .failed = std::move(failed)};
}

}  // namespace bitpool
