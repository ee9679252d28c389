#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "bitpool/experiments/class_retrieval.h"
#include "bitpool/experiments/joint_files.h"
#include "experiment.h"
#include "network_choice.h"
#include "view_choice.h"

namespace bitpool::app {
namespace {

struct JointCommand {
  JointChoice choice;
  NetworkChoice network;
  ViewChoice views;
  std::string dataset, folder;
  JointFiles files;
  Index ask = 1000;  // test pictures of a public set that search
  Index top = 0;     // results that count; 0: all
};

// Images of the user's files.
Experiment OnFiles(const JointCommand& command, const JointOptions& options, const Session& session,
                   const RunContext& context) {
  JointFiles files = command.files;
  if (command.choice.tune) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "--tune: for files, choose constants with `bitpool tune` and give them by --config");
  }
  if (files.training.empty() || files.database.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "expected --dataset, or --features with --database");
  }
  const int ways =
      (files.holidays ? 1 : 0) + (files.truth.empty() ? 0 : 1) + (files.labels.empty() ? 0 : 1);
  if (ways != 1 || files.holidays != files.queries.empty() ||
      files.labels.empty() != files.query_labels.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected --holidays, or --queries with --truth or with --labels and "
                "--query-labels");
  }
  files.top = command.top;
  files.memory = command.choice.memory_mib << 20;
  files.scratch = ScratchFile("joint");
  return RunJointOnFiles(Env::Posix(), options, files, context,
                         [&](const std::string& line) { session.Say(line); });
}

// A public set: its training part is learned from and searched; some of its test part search for
// their class.
Experiment OnPublicSet(const JointCommand& command, const JointOptions& options,
                       const Session& session, const RunContext& context) {
  CnnFeaturesRequest request = command.network.Request(command.dataset, DataFolder(command.folder));
  command.views.Request(context.seed(), request);
  const CnnFeatures set = LoadCnnFeatures(Env::Posix(), request, context,
                                          [&](const std::string& line) { session.Say(line); });
  ClassRetrievalOptions asked;
  asked.joint = options;
  asked.tune = command.choice.tune;
  asked.queries = command.ask;
  asked.top = command.top;
  asked.normalise = command.files.normalise;
  asked.memory = command.choice.memory_mib << 20;
  asked.scratch = ScratchFile("joint");
  return RunClassRetrieval(Env::Posix(), asked, Labelled(set), context);
}

int RunJoint(const JointCommand& command, const Session& session) {
  const JointOptions options = command.choice.WithConstants();
  const JointChoice& choice = command.choice;
  if (!choice.html.empty()) RequireWritable(Env::Posix(), choice.html, choice.if_exists);
  const RunContext context = session.MakeContext();
  const Experiment experiment = command.dataset.empty()
                                    ? OnFiles(command, options, session, context)
                                    : OnPublicSet(command, options, session, context);
  choice.Deliver(experiment, session);
  return kExitFine;
}

}  // namespace

void AddJointExperiment(CLI::App* parent, Session& session) {
  const auto command = std::make_shared<JointCommand>();
  CLI::App* app =
      parent->add_subcommand("joint", "Aggregating and hashing together (SAH), and apart");
  const std::vector<std::string> sets = PublicSetNames();
  app->add_option("--dataset", command->dataset,
                  "A public set: one of " + fmt::format("{}", fmt::join(sets, ", ")))
      ->check(CLI::IsMember(sets));
  app->add_option("--dir", command->folder, "Where `data get` has put the sets");
  command->network.AddTo(app);
  command->network.AddLocalPcaTo(app);
  command->network.AddSizeTo(app);
  command->network.AddLimitTo(app);
  command->views.AddTo(app);
  command->views.AddLimitTo(app);
  app->add_option("--ask", command->ask, "Test pictures of the set that search")
      ->capture_default_str();
  app->add_option("--top", command->top, "Only this many results count in it; 0: all");
  app->add_option(
         "--features", command->files.training,
         "Or training images of your own as local features (.bpf), with their views if any")
      ->excludes("--dataset")
      ->excludes("--views");
  app->add_option("--database", command->files.database, "Images to search (.bpf)");
  app->add_option("--queries", command->files.queries, "Images that search (.bpf)");
  app->add_option("--truth", command->files.truth, "Right answers: a row per query (.ivecs, .npy)");
  app->add_option("--labels", command->files.labels, "Labels of the database");
  app->add_option("--query-labels", command->files.query_labels, "Labels of the queries");
  app->add_flag("--holidays", command->files.holidays,
                "The database is INRIA Holidays: names tell queries and answers");
  command->choice.AddTo(app);
  app->add_flag("!--no-normalise", command->files.normalise, "Take local features as they are");
  app->footer(
      "Example:\n  bitpool experiment joint --dataset cifar10 --bits 16,32,64 --top 1000\n"
      "  bitpool experiment joint --features train.bpf --database holidays.bpf "
      "--holidays "
      "--config sah.json --config rba.json --html joint.html");
  app->callback([command, &session] {
    session.action = [command, &session] { return RunJoint(*command, session); };
  });
}

}  // namespace bitpool::app
