#include "bitpool/pipeline/model_file.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/hash/baselines/product_encoder.h"
#include "bitpool/hash/baselines/sphere_encoder.h"

namespace bitpool {
namespace {

constexpr const char* kKind = "model";
constexpr const char* kDecoderWeights = "decoder_weights";
constexpr const char* kDecoderBias = "decoder_bias";

void AddMatrix(ContainerWriter& writer, const std::string& name, const MatrixF& matrix) {
  writer.Add<float>(name,
                    {static_cast<uint64_t>(matrix.cols()), static_cast<uint64_t>(matrix.rows())},
                    {matrix.data(), static_cast<size_t>(matrix.size())});
}

MatrixF ReadMatrix(const Container& container, const std::string& name) {
  const Section& section = container.Find(name, DType::kF4, 2);
  const std::span<const float> values = container.ReadArray<float>(name, 2);
  MatrixF matrix(static_cast<Index>(section.dims[1]), static_cast<Index>(section.dims[0]));
  std::ranges::copy(values, matrix.data());
  if (!matrix.allFinite()) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("{}: section \"{}\": a number is not finite", container.name(), name));
  }
  return matrix;
}

VectorF ReadVector(const Container& container, const std::string& name) {
  const MatrixF matrix = ReadMatrix(container, name);
  if (matrix.cols() != 1) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("{}: section \"{}\": expected a vector, got {} × {}", container.name(),
                            name, matrix.rows(), matrix.cols()));
  }
  return matrix.col(0);
}

std::string ReadWord(const Container& container, const char* key) {
  const nlohmann::json& metadata = container.metadata();
  if (!metadata.contains(key) || !metadata[key].is_string()) {
    throw Error(ErrorCode::kCorrupt, fmt::format("{}: section \"metadata\": expected a text \"{}\"",
                                                 container.name(), key));
  }
  return metadata[key].get<std::string>();
}

std::shared_ptr<const HashEncoder> ReadEncoder(const Container& container) {
  const std::string kind = ReadWord(container, "encoder");
  if (kind == "linear") {
    return std::make_shared<LinearEncoder>(
        LinearMap{.weights = ReadMatrix(container, "encoder_weights"),
                  .bias = ReadVector(container, "encoder_bias")});
  }
  if (kind == "spheres") {
    return std::make_shared<SphereEncoder>(ReadMatrix(container, "sphere_centres"),
                                           ReadVector(container, "sphere_squared_radii"));
  }
  if (kind == "product") {
    return std::make_shared<ProductEncoder>(ReadVector(container, "product_mean"),
                                            ReadMatrix(container, "product_codewords"),
                                            ReadVector(container, "product_subspace_bits"));
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{}: an encoder of kind \"{}\": a newer Bitpool made it",
                          container.name(), kind));
}

// What an encoder's own checks refuse is a damaged file here.
std::shared_ptr<const HashEncoder> ReadValidEncoder(const Container& container) {
  try {
    return ReadEncoder(container);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    throw Error(ErrorCode::kCorrupt,
                fmt::format("{}: section \"encoder\": {}", container.name(), error.what()));
  }
}

}  // namespace

void SaveModel(Env& env, const std::filesystem::path& path, const StoredModel& stored,
               IfExists if_exists) {
  const HashModel& model = stored.model;
  ContainerWriter writer(env, path, kKind, if_exists);
  for (const auto& [name, matrix] : model.encoder->Parameters()) AddMatrix(writer, name, matrix);
  AddMatrix(writer, kDecoderWeights, model.decoder.weights);
  AddMatrix(writer, kDecoderBias, model.decoder.bias);
  writer.Commit({{"method", model.method},
                 {"encoder", model.encoder->kind()},
                 {"bits", model.bits()},
                 {"dimension", model.dimension()},
                 {"training", stored.training}});
}

StoredModel ParseModel(const Container& container) {
  container.ExpectKind(kKind);
  StoredModel stored;
  HashModel& model = stored.model;
  model.method = ReadWord(container, "method");
  model.encoder = ReadValidEncoder(container);
  model.decoder = {.weights = ReadMatrix(container, kDecoderWeights),
                   .bias = ReadVector(container, kDecoderBias)};
  if (model.decoder.weights.rows() != model.dimension() ||
      model.decoder.weights.cols() != model.bits() ||
      model.decoder.bias.size() != model.dimension()) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("{}: section \"{}\": expected {} × {} weights", container.name(),
                            kDecoderWeights, model.dimension(), model.bits()));
  }
  stored.training = container.metadata().value("training", nlohmann::json::object());
  return stored;
}

StoredModel OpenModel(Env& env, const std::filesystem::path& path) {
  return ParseModel(Container::Open(env, path));
}

}  // namespace bitpool
