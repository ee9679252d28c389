#include "bitpool/pictures/picture_coder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/image/picture_sketch.h"
#include "bitpool/io/checksum.h"
#include "bitpool/pool/pooling_system.h"
#include "bitpool/pool/simple_pooling.h"
#include "bitpool/training/matrix_sections.h"

namespace bitpool {
namespace {

constexpr const char* kKind = "coder";
constexpr const char* kExtractor = "extractor";
constexpr const char* kReduced = "reduced";
constexpr const char* kEmbedded = "embedded";
constexpr const char* kDefinition = "network_definition";
constexpr const char* kWeights = "network_weights";

std::string DigestOf(const PictureDescriber& describer, const HashModel& model) {
  std::string described = fmt::format("{} {}", describer.digest(), model.encoder->kind());
  if (model.pooling) {
    described +=
        fmt::format(" {} {} {}", model.pooling->normalise, model.pooling->mu, model.pooling->gamma);
  }
  const auto add = [&](const std::string& name, const MatrixF& matrix) {
    described += fmt::format(
        " {} {}×{} {}", name, matrix.rows(), matrix.cols(),
        ContentDigest(std::as_bytes(std::span(matrix.data(), static_cast<size_t>(matrix.size())))));
  };
  for (const auto& [name, matrix] : model.encoder->Parameters()) add(name, matrix);
  add("decoder_weights", model.decoder.weights);
  add("decoder_bias", model.decoder.bias);
  if (model.pooling && model.pooling->metric.size() > 0) add("metric", model.pooling->metric);
  if (model.pooling && model.pooling->attention.size() > 0) {
    add("attention", model.pooling->attention);
  }
  return ContentDigest(std::as_bytes(std::span(described)));
}

// Runs `read`; arguments that it refuses are damage here.
template <class Read>
auto ReadingSection(const Container& container, const char* section, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUnsupported) throw error.In(container.name());
    throw container.InSection(section, error.As(ErrorCode::kCorrupt));
  }
}

void AddBytes(ContainerWriter& writer, const char* name, const std::vector<std::byte>& bytes) {
  writer.Add(name, DType::kU1, {bytes.size()}, bytes);
}

std::vector<std::byte> ReadBytes(const Container& container, const char* name) {
  const std::span<const std::byte> bytes = container.Read(container.Find(name, DType::kU1, 1));
  return {bytes.begin(), bytes.end()};
}

std::optional<TriangulationEmbedding> ReadEmbedding(const Container& container) {
  const nlohmann::json& metadata = container.metadata();
  if (!metadata.contains(kEmbedded) || !metadata[kEmbedded].is_boolean()) {
    throw container.Damaged("metadata", "expected \"embedded\", true or false");
  }
  if (!metadata[kEmbedded].get<bool>()) return std::nullopt;
  TriangulationEmbedding::NamedMatrices parameters;
  for (const char* name : TriangulationEmbedding::kParameterNames) {
    parameters.emplace_back(name, ReadMatrix(container, name));
  }
  return ReadingSection(container, TriangulationEmbedding::kParameterNames[0],
                        [&] { return TriangulationEmbedding::FromParameters(parameters); });
}

PictureDescriber WithStoredReduction(const Container& container,
                                     const PictureDescriber& describer) {
  if (!container.metadata().contains(kReduced)) return describer;
  LocalPca::NamedMatrices parameters;
  for (const char* name : LocalPca::kParameterNames) {
    parameters.emplace_back(name, ReadMatrix(container, name));
  }
  return ReadingSection(container, LocalPca::kParameterNames[1], [&] {
    return describer.WithReduction(LocalPca::FromParameters(parameters));
  });
}

PictureDescriber ReadDescriber(const Container& container) {
  const ExtractorSettings settings = ReadingSection(container, "metadata", [&] {
    return ParseExtractor(container.metadata().value(kExtractor, nlohmann::json::object()));
  });
  NetworkBytes network;
  if (settings.kind == "cnn") {
    network = {.definition = ReadBytes(container, kDefinition),
               .weights = ReadBytes(container, kWeights)};
  }
  std::optional<TriangulationEmbedding> embedding = ReadEmbedding(container);
  const char* section = settings.kind == "cnn" ? kDefinition : "metadata";
  PictureDescriber describer = ReadingSection(container, section, [&] {
    return PictureDescriber(settings, std::move(network), std::nullopt);
  });
  describer = WithStoredReduction(container, describer);
  return ReadingSection(container, section,
                        [&] { return describer.WithEmbedding(std::move(embedding)); });
}

}  // namespace

struct PictureCoder::State {
  PictureDescriber describer;
  StoredModel stored;
  std::optional<PoolingSystem> pooling;  // none: a picture has one vector
  std::string digest;
};

PictureCoder::PictureCoder(PictureDescriber describer, StoredModel model) {
  if (model.model.dimension() != describer.dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a model for features of {} dimensions, but the features have {}",
                            model.model.dimension(), describer.dimension()));
  }
  std::optional<PoolingSystem> pooling;
  if (model.model.pooling || !describer.gives_one_vector()) pooling = PoolingOf(model.model);
  std::string digest = DigestOf(describer, model.model);
  state_ = std::make_shared<State>(State{.describer = std::move(describer),
                                         .stored = std::move(model),
                                         .pooling = std::move(pooling),
                                         .digest = std::move(digest)});
}

int PictureCoder::bits() const { return state_->stored.model.bits(); }
const std::string& PictureCoder::digest() const { return state_->digest; }
const PictureDescriber& PictureCoder::describer() const { return state_->describer; }
const StoredModel& PictureCoder::model() const { return state_->stored; }

PictureCode PictureCoder::Encode(std::span<const std::byte> picture) const {
  return EncodeDecoded(state_->describer.Decode(picture), picture);
}

PictureCode PictureCoder::EncodeMirrored(std::span<const std::byte> picture) const {
  return EncodeDecoded(Mirrored(state_->describer.Decode(picture)), picture);
}

PictureCode PictureCoder::EncodeDecoded(Picture decoded, std::span<const std::byte> picture) const {
  MatrixF features = Describe(decoded);
  if (features.cols() == 0) throw Error(ErrorCode::kUnsupported, kNoFeatures);
  PictureCode code = EncodeFeatures(std::move(features), state_->describer.Inspect(picture));
  code.decoded = std::move(decoded);
  return code;
}

PictureCode PictureCoder::EncodeFeatures(MatrixF features, PictureFacts facts) const {
  const HashModel& model = state_->stored.model;
  if (model.pooling && model.pooling->normalise) NormaliseColumns(features);
  const VectorF vector = state_->pooling ? state_->pooling->Pool(features) : features.col(0);
  const EncodedVectors encoded = model.encoder->EncodeBlock(vector);
  return {.code = {encoded.codes.rows().begin(), encoded.codes.rows().end()},
          .projection = encoded.projections,
          .facts = std::move(facts),
          .descriptors = features.cols(),
          .decoded = {}};
}

MatrixF PictureCoder::Describe(const Picture& picture) const {
  return state_->describer.Describe(picture);
}

void SaveCoder(Env& env, const std::filesystem::path& path, const PictureCoder& coder,
               IfExists if_exists) {
  const PictureDescriber& describer = coder.describer();
  ContainerWriter writer(env, path, kKind, if_exists);
  if (describer.reduction()) {
    for (const auto& [name, matrix] : describer.reduction()->Parameters()) {
      AddMatrix(writer, name, matrix);
    }
  }
  if (describer.embedding()) {
    for (const auto& [name, matrix] : describer.embedding()->Parameters()) {
      AddMatrix(writer, name, matrix);
    }
  }
  if (describer.settings().kind == "cnn") {
    AddBytes(writer, kDefinition, describer.network().definition);
    AddBytes(writer, kWeights, describer.network().weights);
  }
  nlohmann::json metadata = AddModel(writer, coder.model());
  metadata[kExtractor] = DescribeExtractor(describer.settings());
  if (describer.reduction()) metadata[kReduced] = true;
  metadata[kEmbedded] = describer.embedding().has_value();
  writer.Commit(metadata);
}

PictureCoder ParseCoder(const Container& container) {
  container.ExpectKind(kKind);
  PictureDescriber describer = ReadDescriber(container);
  StoredModel model = ReadModel(container);
  return ReadingSection(container, "encoder_weights",
                        [&] { return PictureCoder(std::move(describer), std::move(model)); });
}

PictureCoder OpenCoder(Env& env, const std::filesystem::path& path) {
  return ParseCoder(Container::Open(env, path));
}

}  // namespace bitpool
