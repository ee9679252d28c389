#include <fmt/format.h>

#include "bitpool/pipeline/retrieval_experiment.h"
#include "cnn_choice.h"
#include "experiment.h"

namespace bitpool::app {
namespace {

struct RetrievalCommand {
  RetrievalOptions options;
  RetrievalSet set;
  CnnChoice cnn;
  std::string pictures, truth, training, work, html;
  std::vector<std::string> configs;
  uint64_t memory_mib = 4096;
  IfExists if_exists = IfExists::kFail;
};

int RunRetrieval(const RetrievalCommand& command, const Session& session) {
  RetrievalOptions options = command.options;
  options.joint.constants = LoadConstants(command.configs);
  options.extractor.cnn = command.cnn.options;
  if (options.extractor.kind == "cnn") {
    options.extractor.network = command.cnn.Paths(DataFolder(""));
  }
  options.limit = command.cnn.limit;
  options.memory = command.memory_mib << 20;
  options.work =
      command.work.empty() ? DataFolder("") / "retrieval" : std::filesystem::path(command.work);
  options.Validate();
  Env& env = Env::Posix();
  if (!command.html.empty()) RequireWritable(env, command.html, command.if_exists);
  RetrievalSet set = command.set;
  set.pictures = command.pictures;
  set.truth = command.truth;
  set.training = command.training;
  const Experiment experiment =
      RunRetrievalExperiment(env, options, set, session.MakeContext(),
                             [&](const std::string& line) { session.Say(line); });
  session.Say(fmt::format("mAP of the vectors before hashing, by their cosine: {:.2f} percent",
                          experiment.data["gmp_cosine_mAP"].get<double>()));
  Deliver(
      experiment,
      {kMapShown,
       {"relative_reconstruction_error", "{:.3f}", false,
        "Reconstruction error, share of the vectors' variance"},
       kSecondsShown},
      command.html, [&] { return JointReport(experiment); }, command.if_exists, session);
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
                  "Pictures are scaled down to so many pixels first")
      ->capture_default_str();
  command->cnn.AddTo(app);
  app->add_option("--bits", options.joint.bits, "Lengths of the codes")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--methods", options.joint.methods, "Methods to compare")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--seeds", options.joint.seeds, "Runs of each method")->capture_default_str();
  app->add_option("--mu", options.joint.mu, "Of generalised max pooling")->capture_default_str();
  app->add_option("--config", command->configs, "Constants that tune has written, for each method");
  app->add_option("--work", command->work, "Folder in which features are kept for the next run");
  app->add_option("--memory", command->memory_mib, "MiB for images; beyond, they go to a file")
      ->capture_default_str();
  app->add_option("--html", command->html, "Also write a report with charts");
  AddForce(app, command->if_exists);
  app->footer(
      "Example:\n  bitpool experiment retrieval --dataset holidays --dir holidays --train photos "
      "--features hesaff --bits 16,32");
  app->callback([command, &session] {
    session.action = [command, &session] { return RunRetrieval(*command, session); };
  });
}

}  // namespace bitpool::app
