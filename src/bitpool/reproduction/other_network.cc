#include "bitpool/reproduction/other_network.h"

#include "bitpool/base/error.h"
#include "bitpool/io/json_text.h"
#include "bitpool/reproduction/reproduction.h"

namespace bitpool {
namespace {

OtherNetwork FromJson(const nlohmann::json& json) {
  OtherNetwork other{.name = json.at("network").get<std::string>()};
  for (const nlohmann::json& entry : json.at("entries")) {
    for (const nlohmann::json& part : entry.at("parts")) {
      nlohmann::json experiment = ToJson(Experiment());
      experiment["results"] = part.at("results");
      other.results.emplace(
          std::pair(entry.at("name").get<std::string>(), part.at("heading").get<std::string>()),
          ExperimentFromJson(experiment).results);
    }
  }
  return other;
}

}  // namespace

const std::vector<ExperimentResult>* OtherNetwork::Find(const std::string& entry,
                                                        const std::string& heading) const {
  const auto found = results.find({entry, heading});
  return found == results.end() || found->second.empty() ? nullptr : &found->second;
}

OtherNetwork ReadOtherNetwork(Env& env, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kReproductionResults;
  const auto view = env.Map(path);
  try {
    return FromJson(ParseJson(view->bytes()));
  } catch (const std::exception&) {
    throw Error(ErrorCode::kCorrupt, path.string(),
                "expected the results of a reproduction, with the name of its network");
  }
}

}  // namespace bitpool
