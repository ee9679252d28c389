#include <fmt/format.h>

#include "bitpool/experiments/retrieval_experiment.h"
#include "experiment.h"
#include "least_rights.h"
#include "network_choice.h"
#include "view_choice.h"

namespace bitpool::app {
namespace {

struct RetrievalCommand {
  RetrievalOptions options;
  RetrievalSet set;
  JointChoice choice;
  NetworkChoice network;
  ViewChoice views;
  std::string pictures, truth, training, work;
};

int RunRetrieval(const RetrievalCommand& command, const Session& session) {
  RetrievalOptions options = command.options;
  options.joint = command.choice.WithConstants();
  if (command.network.named()) options.extractor.kind = "cnn";
  if (options.extractor.kind == "cnn") {
    const NamedNetwork network = command.network.Find(DataFolder(""));
    options.extractor.cnn = network.scenes.options;
    options.extractor.network = network.files;
    options.reduced = network.scenes.reduced;
  }
  options.limit = command.network.limit;
  options.views = command.views.Plan(session.MakeContext().seed());
  options.tune = command.choice.tune;
  options.memory = command.choice.memory_mib << 20;
  options.work =
      command.work.empty() ? DataFolder("") / "retrieval" : std::filesystem::path(command.work);
  options.Validate();
  Env& env = Env::Posix();
  const JointChoice& choice = command.choice;
  if (!choice.html.empty()) RequireWritable(env, choice.html, choice.if_exists);
  env.MakeFolders(options.work);  // what is not there yet could not be written in afterwards
  KeepLeastRights({options.work, choice.html});
  RetrievalSet set = command.set;
  set.pictures = command.pictures;
  set.truth = command.truth;
  set.training = command.training;
  const Experiment experiment =
      RunRetrievalExperiment(env, options, set, session.MakeContext(),
                             [&](const std::string& line) { session.Say(line); });
  session.Say(fmt::format("mAP of the vectors before hashing, by their cosine: {:.2f} percent",
                          experiment.data["gmp_cosine_mAP"].get<double>()));
  choice.Deliver(experiment, session);
  return kExitFine;
}

}  // namespace

void AddRetrievalExperiment(CLI::App* parent, Session& session) {
  const auto command = std::make_shared<RetrievalCommand>();
  RetrievalOptions& options = command->options;
  CLI::App* app = parent->add_subcommand(
      "retrieval", "SAH from pictures: Holidays, Oxford5k or Paris6k, by SIFT or a network");
  app->add_option("--dataset", command->set.name, "holidays, oxford5k or paris6k")
      ->check(CLI::IsMember({"holidays", "oxford5k", "paris6k"}))
      ->capture_default_str();
  app->add_option("--dir", command->pictures, "The folder of its pictures")->required();
  app->add_option("--truth", command->truth,
                  "The folder of the ground-truth files (oxford5k, paris6k)");
  app->add_option("--train", command->training, "A folder of other pictures to learn from")
      ->required();
  app->add_option("--features", options.extractor.kind,
                  "hesaff: SIFT on Hessian-affine regions; dense: SIFT on a grid; cnn: maps of a "
                  "network")
      ->check(CLI::IsMember({"hesaff", "dense", "cnn"}))
      ->capture_default_str();
  app->add_option("--max-side", options.extractor.max_side,
                  "Pictures are scaled down to this many pixels first")
      ->capture_default_str();
  command->network.AddTo(app);
  command->network.AddLocalPcaTo(app);
  command->network.AddSizeTo(app);
  command->network.AddLimitTo(app);
  command->views.AddTo(app);
  command->choice.AddTo(app);
  app->add_option("--work", command->work, "Folder in which features are kept for the next run");
  app->footer(
      "Example:\n  bitpool experiment retrieval --dataset holidays --dir holidays --train photos "
      "--features hesaff --bits 16,32");
  app->callback([command, &session] {
    session.action = [command, &session] { return RunRetrieval(*command, session); };
  });
}

}  // namespace bitpool::app
