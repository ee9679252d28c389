#include "bitpool/training/checkpoint_file.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/training/matrix_sections.h"

namespace bitpool {
namespace {

using nlohmann::json;

constexpr const char* kCheckpointKind = "checkpoint";
constexpr const char* kContrastKind = "contrast checkpoint";
constexpr const char* kVectors = "vectors";
constexpr const char* kCodes = "codes";
constexpr const char* kMetadata = "metadata";

struct IterationField {
  const char* name;
  double TrainingIteration::*value;
};
constexpr std::array kIterationFields = {
    IterationField{"objective", &TrainingIteration::objective},
    IterationField{"reconstruction", &TrainingIteration::reconstruction},
    IterationField{"quantisation", &TrainingIteration::quantisation},
    IterationField{"aggregation", &TrainingIteration::aggregation},
    IterationField{"flipped", &TrainingIteration::flipped},
    IterationField{"seconds", &TrainingIteration::seconds},
};
static_assert(sizeof(TrainingIteration) == kIterationFields.size() * sizeof(double),
              "a field of TrainingIteration is missing here");

// The member of an object, or null.
const json* Member(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

bool Differ(const json* a, const json* b) {
  return a == nullptr || b == nullptr ? a != b : *a != *b;
}

std::string Text(const json* value) {
  return value == nullptr
             ? "nothing"
             : value->dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

// As it comes back from a file: text that is not UTF-8 and numbers that are not finite cannot be
// written there.
json AsStored(const json& value) { return json::parse(Text(&value)); }

// The first key, in alphabetical order, under which the objects differ. REQUIRES: there is one.
std::string FirstDifference(const json& a, const json& b) {
  json all = a;
  all.update(b);
  for (const auto& [key, value] : all.items()) {
    if (Differ(Member(a, key), Member(b, key))) return key;
  }
  throw Error(ErrorCode::kInternal, "no difference between equal objects");
}

void RequireSameJob(const Container& container, const json& expected_job) {
  const json job = AsStored(expected_job);
  const json* expected = &job;
  const json* found = Member(container.metadata(), "job");
  if (found == nullptr) throw container.Damaged(kMetadata, "expected a \"job\"");
  if (!Differ(expected, found)) return;
  std::string key = "job";
  while (expected != nullptr && found != nullptr && expected->is_object() && found->is_object()) {
    const std::string next = FirstDifference(*expected, *found);
    key += "." + next;
    expected = Member(*expected, next);
    found = Member(*found, next);
  }
  throw Error(ErrorCode::kInvalidArgument, container.name(),
              fmt::format("made by another job: expected {} = {}, found {}", key, Text(expected),
                          Text(found)));
}

double ReadNumber(const Container& container, const json& object, const char* key) {
  const json* value = object.is_object() ? Member(object, key) : nullptr;
  if (value == nullptr || !value->is_number()) {
    throw container.Damaged(kMetadata, fmt::format("expected a number \"{}\"", key));
  }
  return value->get<double>();
}

int ReadBits(const Container& container) {
  const double bits = ReadNumber(container, container.metadata(), "bits");
  if (!(bits >= 1 && bits <= kMaxBits) || bits != static_cast<int>(bits)) {
    throw container.Damaged(kMetadata, fmt::format("{} bits, expected 1 to {}", bits, kMaxBits));
  }
  return static_cast<int>(bits);
}

std::vector<TrainingIteration> ReadIterations(const Container& container) {
  const json* list = Member(container.metadata(), "iterations");
  if (list == nullptr || !list->is_array()) {
    throw container.Damaged(kMetadata, "expected a list \"iterations\"");
  }
  std::vector<TrainingIteration> iterations;
  for (const json& entry : *list) {
    TrainingIteration& iteration = iterations.emplace_back();
    for (const IterationField& field : kIterationFields) {
      iteration.*field.value = ReadNumber(container, entry, field.name);
    }
  }
  return iterations;
}

json StoredIterations(const std::vector<TrainingIteration>& iterations) {
  json list = json::array();
  for (const TrainingIteration& iteration : iterations) {
    json& entry = list.emplace_back(json::object());
    for (const IterationField& field : kIterationFields) entry[field.name] = iteration.*field.value;
  }
  return list;
}

std::string HiddenOf(const std::string& map) { return map + "_hidden"; }
std::string OutputOf(const std::string& map) { return map + "_output"; }

// A hidden layer has sections only where there is one.
void AddTwoLayerMap(ContainerWriter& writer, const std::string& name, const TwoLayerMap& map) {
  AddLinearMap(writer, name, map.linear);
  if (map.hidden_units() == 0) return;
  AddLinearMap(writer, HiddenOf(name), map.hidden);
  AddMatrix(writer, OutputOf(name), map.output);
}

TwoLayerMap ReadTwoLayerMap(const Container& container, const std::string& name) {
  TwoLayerMap map{.linear = ReadLinearMap(container, name), .hidden = {}, .output = {}};
  map.hidden = {.weights = MatrixF(0, map.dimension()), .bias = VectorF(0)};
  map.output = MatrixF(map.bits(), 0);
  if (!container.Has(OutputOf(name))) return map;
  map.output = ReadMatrix(container, OutputOf(name));
  if (map.output.rows() != map.bits()) {
    throw container.Damaged(OutputOf(name),
                            fmt::format("expected {} rows, got {}", map.bits(), map.output.rows()));
  }
  map.hidden = ReadLinearMap(container, HiddenOf(name), map.output.cols(), map.dimension());
  return map;
}

// The map of that name, which must have the sizes of another.
TwoLayerMap ReadTwoLayerMapLike(const Container& container, const std::string& name,
                                const TwoLayerMap& like) {
  TwoLayerMap map = ReadTwoLayerMap(container, name);
  if (map.bits() == like.bits() && map.dimension() == like.dimension() &&
      map.hidden_units() == like.hidden_units()) {
    return map;
  }
  throw container.Damaged(
      name + "_weights",
      fmt::format("expected {} bits of dimension {} with {} hidden units, got {} of {} with {}",
                  like.bits(), like.dimension(), like.hidden_units(), map.bits(), map.dimension(),
                  map.hidden_units()));
}

BinaryCodes ReadCodes(const Container& container, Index images) {
  const int bits = ReadBits(container);
  const Section& section = container.Find(kCodes, DType::kU1, 2);
  if (section.dims[0] != static_cast<uint64_t>(images) || section.dims[1] != BytesPerCode(bits)) {
    throw container.Damaged(kCodes,
                            fmt::format("expected {} codes of {} bytes, got {} of {}", images,
                                        BytesPerCode(bits), section.dims[0], section.dims[1]));
  }
  const std::span<const uint8_t> rows = container.ReadArray<uint8_t>(kCodes, 2);
  try {
    return {bits, std::vector<uint8_t>(rows.begin(), rows.end())};
  } catch (const Error& error) {
    throw container.InSection(kCodes, error.As(ErrorCode::kCorrupt));
  }
}

}  // namespace

void SaveCheckpoint(Env& env, const std::filesystem::path& path, const JointState& state,
                    const json& job) {
  ContainerWriter writer(env, path, kCheckpointKind, IfExists::kReplace);
  AddMatrix(writer, kVectors, state.vectors);
  writer.Add<uint8_t>(kCodes,
                      {static_cast<uint64_t>(state.codes.size()), state.codes.bytes_per_code()},
                      state.codes.rows());
  AddLinearMap(writer, "encoder", state.encoder);
  AddLinearMap(writer, "decoder", state.decoder);
  writer.Commit({{"job", job},
                 {"bits", state.codes.bits()},
                 {"gamma", state.gamma},
                 {"iterations", StoredIterations(state.iterations)}});
}

JointState ParseCheckpoint(const Container& container, const json& job) {
  container.ExpectKind(kCheckpointKind);
  RequireSameJob(container, job);
  JointState state;
  state.iterations = ReadIterations(container);
  state.gamma = ReadNumber(container, container.metadata(), "gamma");
  state.vectors = ReadMatrix(container, kVectors);
  state.codes = ReadCodes(container, state.vectors.cols());
  const Index dimension = state.vectors.rows();
  state.encoder = ReadLinearMap(container, "encoder", state.codes.bits(), dimension);
  state.decoder = ReadLinearMap(container, "decoder");  // to vectors, or with labels to those
  if (state.decoder.weights.cols() != state.codes.bits()) {
    throw container.Damaged("decoder_weights",
                            fmt::format("expected {} columns, got {}", state.codes.bits(),
                                        state.decoder.weights.cols()));
  }
  return state;
}

JointState LoadCheckpoint(Env& env, const std::filesystem::path& path, const json& job) {
  return ParseCheckpoint(Container::Open(env, path), job);
}

void SaveCheckpoint(Env& env, const std::filesystem::path& path, const ContrastState& state,
                    const json& job) {
  ContainerWriter writer(env, path, kContrastKind, IfExists::kReplace);
  AddTwoLayerMap(writer, "map", state.map);
  AddTwoLayerMap(writer, "mean", state.mean);
  AddTwoLayerMap(writer, "square", state.square);
  writer.Commit({{"job", job}, {"iterations", StoredIterations(state.iterations)}});
}

ContrastState ParseContrastCheckpoint(const Container& container, const json& job) {
  container.ExpectKind(kContrastKind);
  RequireSameJob(container, job);
  ContrastState state;
  state.iterations = ReadIterations(container);
  state.map = ReadTwoLayerMap(container, "map");
  state.mean = ReadTwoLayerMapLike(container, "mean", state.map);
  state.square = ReadTwoLayerMapLike(container, "square", state.map);
  return state;
}

ContrastState LoadContrastCheckpoint(Env& env, const std::filesystem::path& path, const json& job) {
  return ParseContrastCheckpoint(Container::Open(env, path), job);
}

}  // namespace bitpool
