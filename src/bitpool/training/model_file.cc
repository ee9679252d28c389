#include "bitpool/training/model_file.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/hash/mapped_encoder.h"
#include "bitpool/training/matrix_sections.h"
#include "bitpool/training/methods.h"

namespace bitpool {
namespace {

constexpr const char* kModelKind = "model";
// Present only where there is a pooling, and so in none of the models that were made before there
// were any.
constexpr const char* kPooling = "pooling";
// The same with a metric or an attention: a program that knows neither then finds no pooling, and
// refuses local features instead of pooling them in another way.
constexpr const char* kExtendedPooling = "extended_pooling";
constexpr const char* kMetric = "pooling_metric";
constexpr const char* kAttention = "pooling_attention";

std::string ReadWord(const Container& container, const char* key) {
  const nlohmann::json& metadata = container.metadata();
  if (!metadata.contains(key) || !metadata[key].is_string()) {
    throw container.Damaged("metadata", fmt::format("expected a text \"{}\"", key));
  }
  return metadata[key].get<std::string>();
}

std::shared_ptr<const HashEncoder> ReadEncoder(const Container& container) {
  const std::string kind = ReadWord(container, "encoder");
  const bool mapped = kind.starts_with(MappedEncoder::kKindPrefix);
  const std::string own = mapped ? kind.substr(MappedEncoder::kKindPrefix.size()) : kind;
  for (const Method& method : Methods()) {
    if (method.encoder.name != own) continue;
    std::shared_ptr<const HashEncoder> encoder = method.encoder.read(container);
    if (!mapped) return encoder;
    return std::make_shared<MappedEncoder>(ReadLinearMap(container, "whitening"),
                                           std::move(encoder));
  }
  throw Error(ErrorCode::kUnsupported, container.name(),
              fmt::format("an encoder of kind \"{}\": a newer Bitpool made it", kind));
}

MatrixF ReadMetric(const Container& container, Index dimension) {
  if (!container.Has(kMetric)) return {};
  MatrixF metric = ReadMatrix(container, kMetric);
  if (metric.rows() == dimension && metric.cols() == dimension) return metric;
  throw container.Damaged(kMetric, fmt::format("expected {0} × {0}", dimension));
}

VectorF ReadAttention(const Container& container, Index dimension) {
  if (!container.Has(kAttention)) return {};
  VectorF attention = ReadVector(container, kAttention);
  if (attention.size() == dimension) return attention;
  throw container.Damaged(kAttention,
                          fmt::format("expected {} numbers, got {}", dimension, attention.size()));
}

std::optional<PoolingRecipe> ReadPooling(const Container& container, Index dimension) {
  const nlohmann::json& metadata = container.metadata();
  const auto found =
      metadata.find(metadata.contains(kExtendedPooling) ? kExtendedPooling : kPooling);
  if (found == metadata.end()) return std::nullopt;
  const nlohmann::json& recipe = *found;
  const auto number = [&](const char* key) {
    return recipe.is_object() && recipe.contains(key) && recipe[key].is_number()
               ? recipe[key].get<double>()
               : -1;
  };
  if (number("mu") <= 0 || number("gamma") < 0 || !recipe.contains("normalise") ||
      !recipe["normalise"].is_boolean()) {
    throw container.Damaged("metadata",
                            "expected \"pooling\" with normalise, mu above 0 and gamma from 0");
  }
  return PoolingRecipe{.normalise = recipe["normalise"].get<bool>(),
                       .mu = number("mu"),
                       .gamma = number("gamma"),
                       .metric = ReadMetric(container, dimension),
                       .attention = ReadAttention(container, dimension)};
}

// Whatever an encoder's own checks refuse is a damaged file here.
std::shared_ptr<const HashEncoder> ReadValidEncoder(const Container& container) {
  try {
    return ReadEncoder(container);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    throw container.InSection("encoder", error.As(ErrorCode::kCorrupt));
  }
}

}  // namespace

nlohmann::json AddModel(ContainerWriter& writer, const StoredModel& stored) {
  const HashModel& model = stored.model;
  for (const auto& [name, matrix] : model.encoder->Parameters()) AddMatrix(writer, name, matrix);
  AddLinearMap(writer, "decoder", model.decoder);
  nlohmann::json metadata = {{"method", model.method},
                             {"encoder", model.encoder->kind()},
                             {"bits", model.bits()},
                             {"dimension", model.dimension()},
                             {"training", stored.training}};
  if (model.pooling) {
    const MatrixF& metric = model.pooling->metric;
    const VectorF& attention = model.pooling->attention;
    const bool plain = metric.size() == 0 && attention.size() == 0;
    metadata[plain ? kPooling : kExtendedPooling] = {{"normalise", model.pooling->normalise},
                                                     {"mu", model.pooling->mu},
                                                     {"gamma", model.pooling->gamma}};
    if (metric.size() > 0) AddMatrix(writer, kMetric, metric);
    if (attention.size() > 0) AddMatrix(writer, kAttention, attention);
  }
  return metadata;
}

StoredModel ReadModel(const Container& container) {
  StoredModel stored;
  HashModel& model = stored.model;
  model.method = ReadWord(container, "method");
  model.encoder = ReadValidEncoder(container);
  model.decoder = ReadLinearMap(container, "decoder", model.dimension(), model.bits());
  model.pooling = ReadPooling(container, model.dimension());
  stored.training = container.metadata().value("training", nlohmann::json::object());
  return stored;
}

void SaveModel(Env& env, const std::filesystem::path& path, const StoredModel& stored,
               IfExists if_exists) {
  ContainerWriter writer(env, path, kModelKind, if_exists);
  writer.Commit(AddModel(writer, stored));
}

StoredModel ParseModel(const Container& container) {
  container.ExpectKind(kModelKind);
  return ReadModel(container);
}

StoredModel OpenModel(Env& env, const std::filesystem::path& path) {
  return ParseModel(Container::Open(env, path));
}

}  // namespace bitpool
