#include <fmt/format.h>

#include <span>
#include <utility>

#include "bitpool/io/checksum.h"
#include "bitpool/pictures/picture_files.h"
#include "bitpool/reproduction/plan.h"
#include "bitpool/version.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

std::string Digest(const std::string& text) {
  return ContentDigest(std::as_bytes(std::span(text))).substr(0, 12);
}

// Identifies the files of a folder of pictures; empty for a folder that is not here.
std::string DigestOfPictures(Env& env, const fs::path& folder, const RunContext& context) {
  if (folder.empty() || !env.IsFolder(folder)) return "";
  std::string text;
  for (const FoundPicture& picture : FindPictures(env, folder, context)) {
    text += fmt::format("{} {}\n", picture.path, picture.size);
  }
  return Digest(text);
}

std::string DigestOfFile(Env& env, const fs::path& file) {
  if (file.empty() || !env.Exists(file)) return "";
  return ContentDigest(env.Map(file)->bytes()).substr(0, 12);
}

std::function<Experiment(const RunSite&)> SayingHowConstantsWereChosen(
    const std::function<Experiment(const RunSite&)>& make, bool tuned) {
  const char* how = tuned ? "RBA, SAH and SASH: by validation on training data alone, where "
                            "there is more than one local feature; others: as published, and μ of "
                            "the pooling by such a validation too"
                          : "the defaults";
  return [make, how](const RunSite& site) {
    Experiment experiment = make(site);
    experiment.settings["choice_of_constants"] = how;
    return experiment;
  };
}

void Append(std::vector<RunSpec> more, std::vector<RunSpec>& runs) {
  for (RunSpec& run : more) runs.push_back(std::move(run));
}

}  // namespace

nlohmann::json ReproductionPlan::Settings(const nlohmann::json& own) const {
  nlohmann::json settings = {{"bitpool", Version()}, {"seed", seed}, {"tune", sizes.tune}};
  settings.update(own);
  return settings;
}

CnnOptions ReproductionPlan::ScenesAt(int size) const {
  CnnOptions options = data.scenes.options;
  options.size = size;
  return options;
}

CnnOptions ReproductionPlan::ClassesAt(int size) const {
  CnnOptions options = data.classes.options;
  options.size = size;
  return options;
}

CnnOptions ReproductionPlan::GlobalAt(int size) const {
  CnnOptions options = ScenesAt(size);
  options.layer = data.global_layer;
  return options;
}

std::vector<RunSpec> ReproductionRuns(Env& env, const ReproductionData& data,
                                      const ReproductionSizes& sizes, const RunContext& context) {
  const ReproductionPlan plan{
      .data = data,
      .sizes = sizes,
      .seed = context.seed(),
      .network = DigestOfFile(env, data.network.definition) + " " +
                 DigestOfFile(env, data.network.weights),
      .holidays = DigestOfPictures(env, data.pictures / "holidays", context),
      .train = DigestOfPictures(env, data.pictures / "train", context),
      .oxford = DigestOfPictures(env, data.oxford, context),
      .paris = DigestOfPictures(env, data.paris, context),
      .nus_wide_labels = DigestOfFile(env, data.nus_wide_labels)};
  std::vector<RunSpec> runs = VectorRuns(plan);
  Append(PictureRuns(plan), runs);
  Append(ClassRuns(plan), runs);
  for (RunSpec& run : runs) run.make = SayingHowConstantsWereChosen(run.make, sizes.tune);
  Append(DeepRuns(), runs);
  return runs;
}

}  // namespace bitpool
