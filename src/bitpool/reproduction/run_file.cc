#include "bitpool/reproduction/run_file.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/checksum.h"
#include "bitpool/io/json_text.h"

namespace bitpool {
namespace {

constexpr int kFormat = 1;

}  // namespace

std::string RunFile::NameFor(const std::string& run, const nlohmann::json& settings) {
  const std::string text = settings.dump();
  return fmt::format("{}-{}.json", run,
                     ContentDigest(std::as_bytes(std::span(text))).substr(0, 12));
}

RunFile::RunFile(Env& env, const std::filesystem::path& folder, std::string run,
                 nlohmann::json settings, const std::function<void(const std::string&)>& say)
    : env_(env),
      path_(folder / NameFor(run, settings)),
      run_(std::move(run)),
      settings_(std::move(settings)) {
  if (!env_.Exists(path_)) return;
  try {
    Load();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCorrupt) throw;
    Restore({});
    experiment_.reset();
    seconds_ = 0;
    say(fmt::format("{}; the run is started again", error.In(path_.string()).what()));
  }
}

void RunFile::Complete(Experiment experiment) {
  experiment_ = std::move(experiment);
  Save();
}

void RunFile::Save() {
  seconds_ += since_saved_.seconds();
  since_saved_ = Stopwatch();
  nlohmann::json json = {
      {"format", kFormat}, {"run", run_}, {"settings", settings_}, {"seconds", seconds_}};
  json["figures"] = nlohmann::json::array();
  for (const auto& [key, figures] : all()) json["figures"].push_back(ToJson(key, figures));
  if (experiment_) json["experiment"] = ToJson(*experiment_);
  const std::string text =
      json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  WriteFile(env_, path_, std::as_bytes(std::span(text)), IfExists::kReplace);
}

void RunFile::Load() {
  const auto view = env_.Map(path_);
  const nlohmann::json json = ParseJson(view->bytes());
  if (!json.is_object()) throw Error(ErrorCode::kCorrupt, "not JSON of a run");
  if (json.value("format", nlohmann::json()) != kFormat ||
      json.value("run", nlohmann::json()) != run_ ||
      json.value("settings", nlohmann::json()) != settings_ || !json.contains("figures") ||
      !json.value("seconds", nlohmann::json()).is_number()) {
    throw Error(ErrorCode::kCorrupt, "not of this run and its settings");
  }
  std::map<RunKey, RunFigures> figures;
  for (const nlohmann::json& one : json["figures"]) figures.insert(FiguresFromJson(one));
  if (json.contains("experiment")) experiment_ = ExperimentFromJson(json["experiment"]);
  seconds_ = json["seconds"].get<double>();
  Restore(std::move(figures));
}

}  // namespace bitpool
