#include "bitpool/experiments/kept_reduction.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/io/container.h"
#include "bitpool/training/matrix_sections.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "local_pca";

LocalPca Read(Env& env, const fs::path& file) {
  const Container container = Container::Open(env, file);
  container.ExpectKind(kKind);
  LocalPca::NamedMatrices parameters;
  for (const char* name : LocalPca::kParameterNames) {
    parameters.emplace_back(name, ReadMatrix(container, name));
  }
  return InContext(file.string(), [&] { return LocalPca::FromParameters(parameters); });
}

void Write(Env& env, const fs::path& file, const LocalPca& reduction) {
  ContainerWriter writer(env, file, kKind, IfExists::kReplace);
  for (const auto& [name, matrix] : reduction.Parameters()) AddMatrix(writer, name, matrix);
  writer.Commit(nlohmann::json::object());
}

}  // namespace

LocalPca KeptReduction(Env& env, const fs::path& file, const ReductionTraining& training,
                       size_t count, const std::function<MatrixF(size_t)>& describe,
                       const RunContext& context) {
  fs::path full = file;
  full += fmt::format("-pca{}-{}-{}-{}.bin", training.dimension, training.pictures,
                      training.features, context.seed());
  if (env.Exists(full)) return Read(env, full);
  LocalPca reduction = LearnReduction(training, count, describe, context);
  Write(env, full, reduction);
  return reduction;
}

}  // namespace bitpool
