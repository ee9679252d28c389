#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/holidays.h"
#include "bitpool/dataset/label_file.h"
#include "bitpool/dataset/neighbour_file.h"
#include "bitpool/experiments/class_retrieval.h"
#include "bitpool/experiments/joint_experiment.h"
#include "bitpool/training/record_file.h"
#include "cnn_choice.h"
#include "experiment.h"

namespace bitpool::app {
namespace {

struct JointCommand {
  JointChoice choice;
  CnnChoice cnn;
  std::string dataset, folder, training, database, queries, truth, labels, query_labels;
  Index ask = 1000;  // test pictures of a public set that ask
  Index top = 0;     // results that count; 0: all
  bool holidays = false;
  bool normalise = true;
};

// The records of images, in memory or in a scratch file.
std::unique_ptr<RecordStore> Reduce(const JointCommand& command, const FeatureSet& features,
                                    const char* part, const Session& session,
                                    const RunContext& context) {
  auto records =
      MakeRecordStore(Env::Posix(), features, command.choice.memory_mib << 20, ScratchFile(part));
  const std::vector<std::string> skipped =
      ReduceImages(features, command.normalise, *records, context);
  for (const std::string& name : skipped) session.Say(name + ": no descriptors, left out");
  if (!skipped.empty() && part != std::string_view("training")) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} images: one without descriptors has no place in a ground truth", part));
  }
  return records;
}

std::unique_ptr<RecordStore> ReduceFile(const JointCommand& command, const std::string& path,
                                        const char* part, const Session& session,
                                        const RunContext& context) {
  const FeatureFile features = FeatureFile::Open(Env::Posix(), path);
  return NamingTheFile(path, [&] { return Reduce(command, features, part, session, context); });
}

// What is right, and which images of the database ask where there are no separate queries.
struct JointTruth {
  std::unique_ptr<GroundTruth> truth;
  std::vector<Index> query_images;
  Protocol protocol = HashingProtocol();
};

JointTruth LoadJointTruth(const JointCommand& command, const FeatureFile& database) {
  const int ways = (command.holidays ? 1 : 0) + (command.truth.empty() ? 0 : 1) +
                   (command.labels.empty() ? 0 : 1);
  if (ways != 1 || command.holidays != command.queries.empty() ||
      command.labels.empty() != command.query_labels.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected --holidays, or --queries with --truth or with --labels and "
                "--query-labels");
  }
  JointTruth found;
  if (command.holidays) {
    std::vector<std::string> names;
    for (Index image = 0; image < database.size(); ++image) names.push_back(database.name(image));
    RetrievalTask task = MakeHolidaysTask(names);
    for (const PictureQuery& query : task.queries) found.query_images.push_back(query.picture);
    found.truth = std::make_unique<ListedTruth>(std::move(task.truth));
    found.protocol = HolidaysProtocol();
  } else if (!command.truth.empty()) {
    found.truth =
        std::make_unique<ListedTruth>(LoadNeighbours(Env::Posix(), command.truth, database.size()));
  } else {
    found.truth = std::make_unique<LabelTruth>(LoadLabels(Env::Posix(), command.query_labels),
                                               LoadLabels(Env::Posix(), command.labels));
  }
  return found;
}

// Images of the user's files.
Experiment OnFiles(const JointCommand& command, const JointOptions& options, const Session& session,
                   const RunContext& context) {
  if (command.training.empty() || command.database.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "expected --dataset, or --features with --database");
  }
  const JointTruth truth =
      LoadJointTruth(command, FeatureFile::Open(Env::Posix(), command.database));
  const auto training = ReduceFile(command, command.training, "training", session, context);
  const auto database = ReduceFile(command, command.database, "database", session, context);
  std::unique_ptr<RecordStore> queries;
  if (!command.queries.empty()) {
    queries = ReduceFile(command, command.queries, "queries", session, context);
  }
  return RunJointExperiment(options,
                            {.training = *training,
                             .database = *database,
                             .queries = queries.get(),
                             .query_images = truth.query_images,
                             .truth = *truth.truth,
                             .protocol = truth.protocol,
                             .normalise = command.normalise},
                            context);
}

// A public set: its training part learns and is searched, some of its test part ask for their
// class.
Experiment OnPublicSet(const JointCommand& command, const JointOptions& options,
                       const Session& session, const RunContext& context) {
  const CnnFeatures set = LoadCnnFeatures(
      Env::Posix(), command.cnn.Request(command.dataset, DataFolder(command.folder)), context,
      [&](const std::string& line) { session.Say(line); });
  ClassRetrievalOptions asked;
  asked.joint = options;
  asked.queries = command.ask;
  asked.top = command.top;
  asked.normalise = command.normalise;
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
  command->cnn.AddTo(app);
  app->add_option("--ask", command->ask, "Test pictures of the set that ask")
      ->capture_default_str();
  app->add_option("--top", command->top, "Only so many results count in it; 0: all");
  app->add_option("--features", command->training,
                  "Or training images of your own as local features (.bpf)")
      ->excludes("--dataset");
  app->add_option("--database", command->database, "Images to search (.bpf)");
  app->add_option("--queries", command->queries, "Images to ask with (.bpf)");
  app->add_option("--truth", command->truth, "Right answers: a row per query (.ivecs, .npy)");
  app->add_option("--labels", command->labels, "Labels of the database");
  app->add_option("--query-labels", command->query_labels, "Labels of the queries");
  app->add_flag("--holidays", command->holidays,
                "The database is INRIA Holidays: names tell queries and answers");
  command->choice.AddTo(app);
  app->add_flag("!--no-normalise", command->normalise, "Take local features as they are");
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
