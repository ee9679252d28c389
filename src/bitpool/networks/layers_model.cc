#include "bitpool/networks/layers_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/io/json_text.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// More than any network has, so that sizes cannot overflow.
constexpr int64_t kMostNumbers = int64_t{1} << 32;

json ParseDescription(const FileView& view) {
  json parsed = ParseJson(view.bytes());
  if (parsed.is_object()) return parsed;
  throw Error(ErrorCode::kCorrupt, view.name(), "expected a model of TensorFlow.js (JSON)");
}

size_t CountOf(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 1 || size > kMostNumbers / count) {
      throw Error(ErrorCode::kCorrupt, fmt::format("a weight of shape {}", shape));
    }
    count *= size;
  }
  return static_cast<size_t>(count);
}

void AppendNumbers(const FileView& view, std::vector<std::byte>& all) {
  all.insert(all.end(), view.bytes().begin(), view.bytes().end());
}

}  // namespace

LayersModel LayersModel::Open(Env& env, const fs::path& model_json) {
  LayersModel model;
  model.file_ = model_json.string();
  const json description = ParseDescription(*env.Map(model_json));
  std::vector<std::byte> bytes;
  size_t count = 0;
  try {
    for (const json& group : description.at("weightsManifest")) {
      for (const json& weight : group.at("weights")) {
        if (weight.at("dtype") != "float32") {
          throw Error(ErrorCode::kCorrupt, "expected weights of type float32 only");
        }
        Place place{.shape = weight.at("shape").get<std::vector<int64_t>>(), .begin = count};
        place.size = CountOf(place.shape);
        count += place.size;
        model.places_.insert_or_assign(weight.at("name").get<std::string>(), std::move(place));
      }
      for (const json& path : group.at("paths")) {
        if (bytes.size() > count * sizeof(float)) break;  // too many already
        AppendNumbers(*env.Map(model_json.parent_path() / path.get<std::string>()), bytes);
      }
    }
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kCorrupt, model.file_, error.what());
  } catch (const Error& error) {
    throw error.code() == ErrorCode::kCorrupt ? error.In(model.file_) : error;
  }
  if (bytes.size() != count * sizeof(float)) {
    throw Error(ErrorCode::kCorrupt, model.file_,
                fmt::format("{} bytes of weights beside it, expected {}", bytes.size(),
                            count * sizeof(float)));
  }
  model.numbers_.resize(count);
  if (count > 0) std::memcpy(model.numbers_.data(), bytes.data(), bytes.size());
  return model;
}

std::span<const float> LayersModel::Weight(const std::string& name,
                                           const std::vector<int64_t>& shape) const {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    throw Error(ErrorCode::kCorrupt, file_, fmt::format("expected a weight {}", name));
  }
  if (found->second.shape != shape) {
    throw Error(ErrorCode::kCorrupt, file_,
                fmt::format("weight {}: shape {}, expected {}", name, found->second.shape, shape));
  }
  return std::span(numbers_).subspan(found->second.begin, found->second.size);
}

}  // namespace bitpool
