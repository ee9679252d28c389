#include "bitpool/experiments/run_figures.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "bitpool/base/error.h"
#include "bitpool/io/checksum.h"

namespace bitpool {
namespace {

void AppendMatrix(const MatrixF& matrix, std::string& text) {
  text += fmt::format(" {}x{} ", matrix.rows(), matrix.cols());
  text.append(reinterpret_cast<const char*>(matrix.data()),
              sizeof(float) * static_cast<size_t>(matrix.size()));
}

double NumberOrNan(const nlohmann::json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

}  // namespace

void FigureStore::Keep(const RunKey& key, RunFigures figures) {
  figures_[key] = std::move(figures);
  Save();
}

RunFigures FindOrMake(FigureStore* store, const RunKey& key,
                      const std::function<RunFigures()>& make) {
  if (store == nullptr) return make();
  const auto found = store->all().find(key);
  if (found != store->all().end()) return found->second;
  RunFigures figures = make();
  store->Keep(key, figures);
  return figures;
}

std::string ModelDigest(const HashModel& model) {
  std::string text = model.method + " " + std::string(model.encoder->kind());
  for (const auto& [name, matrix] : model.encoder->Parameters()) {
    text += " " + name;
    AppendMatrix(matrix, text);
  }
  AppendMatrix(model.decoder.weights, text);
  AppendMatrix(model.decoder.bias, text);
  if (model.pooling) {
    text +=
        fmt::format(" {} {} {}", model.pooling->normalise, model.pooling->mu, model.pooling->gamma);
    if (model.pooling->metric.size() > 0) AppendMatrix(model.pooling->metric, text);
    if (model.pooling->attention.size() > 0) AppendMatrix(model.pooling->attention, text);
  }
  return ContentDigest(std::as_bytes(std::span(text)));
}

nlohmann::json ToJson(const RunKey& key, const RunFigures& figures) {
  nlohmann::json json = {{"method", key.method}, {"bits", key.bits}, {"seed", key.seed}};
  json["metrics"] = nlohmann::json::object();
  for (const auto& [metric, figure] : figures.metrics) {
    json["metrics"][metric] = std::isfinite(figure) ? nlohmann::json(figure) : nlohmann::json();
  }
  if (!figures.model.empty()) json["model"] = figures.model;
  for (const ShownSearch& search : figures.shown) {
    nlohmann::json results = nlohmann::json::array();
    for (const ShownSearch::Result& result : search.results) {
      results.push_back(
          {{"name", result.name}, {"distance", result.distance}, {"right", result.right}});
    }
    json["shown"].push_back({{"query", search.query}, {"results", std::move(results)}});
  }
  return json;
}

std::pair<RunKey, RunFigures> FiguresFromJson(const nlohmann::json& json) {
  try {
    const RunKey key{.method = json.at("method"), .bits = json.at("bits"), .seed = json.at("seed")};
    RunFigures figures{.metrics = {}, .model = json.value("model", "")};
    for (const auto& [metric, figure] : json.at("metrics").items()) {
      figures.metrics[metric] = NumberOrNan(figure);
    }
    for (const nlohmann::json& shown : json.value("shown", nlohmann::json::array())) {
      ShownSearch search{.query = shown.at("query"), .results = {}};
      for (const nlohmann::json& result : shown.at("results")) {
        search.results.push_back({.name = result.at("name"),
                                  .distance = result.at("distance"),
                                  .right = result.at("right")});
      }
      figures.shown.push_back(std::move(search));
    }
    return {key, std::move(figures)};
  } catch (const nlohmann::json::exception& problem) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("figures of a run: not of the expected shape: {}", problem.what()));
  }
}

}  // namespace bitpool
