#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/holidays.h"
#include "bitpool/dataset/public_sets.h"
#include "bitpool/pipeline/hash_methods.h"
#include "bitpool/pipeline/joint_experiment.h"
#include "bitpool/pipeline/record_file.h"
#include "bitpool/pipeline/unsupervised_experiment.h"
#include "config.h"
#include "session.h"

namespace bitpool::app {
namespace {

struct UnsupervisedCommand {
  UnsupervisedOptions options;
  std::string dataset, folder, html;
  IfExists if_exists = IfExists::kFail;
};

// A metric as it is shown.
struct ShownMetric {
  const char* metric;
  const char* format;
  bool higher_is_better;
  const char* caption;
};

std::string Readable(const Experiment& experiment, const std::vector<ShownMetric>& metrics) {
  std::string text = experiment.title + "\n";
  for (const ShownMetric& shown : metrics) {
    ReportTable table = TableOf(experiment, shown.metric, shown.format, shown.higher_is_better);
    table.caption = shown.caption;
    text += "\n" + TextTable(table);
  }
  return text;
}

constexpr ShownMetric kMapShown = {"mAP", "{:.2f}", true, "mAP, percent"};
constexpr ShownMetric kSecondsShown = {"training_seconds", "{:.2f}", false, "Training, seconds"};

// The page where one is wanted, and the tables or JSON.
void Deliver(const Experiment& experiment, const std::vector<ShownMetric>& metrics,
             const std::string& html, const std::function<std::string()>& page, IfExists if_exists,
             const Session& session) {
  if (!html.empty()) {
    const std::string text = page();
    WriteFile(Env::Posix(), html, std::as_bytes(std::span(text)), if_exists);
    session.Say(fmt::format("{}: the report", html));
  }
  if (session.json()) {
    Session::Print(ToJson(experiment));
  } else {
    Session::Print(Readable(experiment, metrics));
  }
}

int RunUnsupervised(const UnsupervisedCommand& command, const Session& session) {
  Env& env = Env::Posix();
  UnsupervisedOptions options = command.options;
  if (options.methods == std::vector<std::string>{"all"}) options.methods.clear();
  options.Validate();
  if (!command.html.empty()) RequireWritable(env, command.html, command.if_exists);
  const RunContext context = session.MakeContext();
  const std::filesystem::path folder =
      command.folder.empty() ? DefaultDataFolder() : std::filesystem::path(command.folder);
  const VectorSet set = LoadVectorSet(env, command.dataset, folder, context,
                                      [&](const std::string& line) { session.Say(line); });
  const UnsupervisedResult result = RunUnsupervisedExperiment(options, set, context);
  Deliver(
      result.experiment,
      {kMapShown,
       kSecondsShown,
       {"reconstruction_error", "{:.4f}", false, "Reconstruction error, mean squared"}},
      command.html, [&] { return UnsupervisedReport(result); }, command.if_exists, session);
  return kExitFine;
}

void AddUnsupervised(CLI::App* parent, Session& session) {
  const auto command = std::make_shared<UnsupervisedCommand>();
  UnsupervisedOptions& options = command->options;
  std::vector<std::string> sets;
  for (const PublicSet& set : PublicSets()) sets.emplace_back(set.name);
  CLI::App* app =
      parent->add_subcommand("unsupervised", "Hashing without labels: RBA and its peers");
  app->add_option("--dataset", command->dataset,
                  "One of " + fmt::format("{}", fmt::join(sets, ", ")))
      ->check(CLI::IsMember(sets))
      ->required();
  app->add_option("--dir", command->folder, "Where `data get` has put the sets");
  app->add_option("--bits", options.bits, "Lengths of the codes")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--methods", options.methods, "Methods to compare, or all (the default)")
      ->delimiter(',');
  app->add_option("--seeds", options.seeds, "Runs of each method")->capture_default_str();
  app->add_option("--queries", options.queries, "Test vectors to ask with")->capture_default_str();
  app->add_option("--neighbours", options.neighbours, "Euclidean neighbours that count as right")
      ->capture_default_str();
  app->add_option("--limit", options.limit, "Use only so many training vectors, for a quick look");
  app->add_flag("!--no-surface", options.surface, "Do not measure RBA over its constants");
  app->add_option("--html", command->html, "Also write a report with charts");
  AddForce(app, command->if_exists);
  app->footer(
      "Example:\n  bitpool experiment unsupervised --dataset mnist --bits 16,32 --methods rba,itq "
      "--html mnist.html");
  app->callback([command, &session] {
    session.action = [command, &session] { return RunUnsupervised(*command, session); };
  });
}

struct JointCommand {
  JointOptions options;
  std::string training, database, queries, truth, labels, query_labels, html;
  std::vector<std::string> configs;
  bool holidays = false;
  bool normalise = true;
  uint64_t memory_mib = 4096;
  IfExists if_exists = IfExists::kFail;
};

// The records of a feature file, in memory or in a scratch file.
std::unique_ptr<RecordStore> ReduceFile(const JointCommand& command, const std::string& path,
                                        const char* part, const Session& session,
                                        const RunContext& context) {
  const FeatureFile features = FeatureFile::Open(Env::Posix(), path);
  const auto scratch =
      std::filesystem::temp_directory_path() / fmt::format("bitpool-{}-{}.records", getpid(), part);
  auto records = MakeRecordStore(Env::Posix(), features, command.memory_mib << 20, scratch);
  const std::vector<std::string> skipped =
      ReduceImages(features, command.normalise, *records, context);
  for (const std::string& name : skipped) session.Say(name + ": no descriptors, left out");
  if (!skipped.empty() && part != std::string_view("training")) {
    throw Error(ErrorCode::kInvalidArgument,
                path + ": an image without descriptors has no place in a ground truth");
  }
  return records;
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

// Each file of constants says for which method it is. All methods that only pool take μ from that
// of RBA.
JointOptions WithConstants(const JointCommand& command) {
  JointOptions options = command.options;
  for (const std::string& file : command.configs) {
    const std::string method = MethodOfConfig(file);
    HashSettings settings;
    settings.method = method;
    options.constants[method] = LoadConfig(file, settings);
    if (method == "rba" && options.constants[method].mu) options.mu = *options.constants[method].mu;
  }
  options.Validate();
  return options;
}

int RunJoint(const JointCommand& command, const Session& session) {
  Env& env = Env::Posix();
  const JointOptions options = WithConstants(command);
  if (!command.html.empty()) RequireWritable(env, command.html, command.if_exists);
  const RunContext context = session.MakeContext();
  const JointTruth truth = LoadJointTruth(command, FeatureFile::Open(env, command.database));
  const auto training = ReduceFile(command, command.training, "training", session, context);
  const auto database = ReduceFile(command, command.database, "database", session, context);
  std::unique_ptr<RecordStore> queries;
  if (!command.queries.empty())
    queries = ReduceFile(command, command.queries, "queries", session, context);
  const Experiment experiment = RunJointExperiment(options,
                                                   {.training = *training,
                                                    .database = *database,
                                                    .queries = queries.get(),
                                                    .query_images = truth.query_images,
                                                    .truth = *truth.truth,
                                                    .protocol = truth.protocol,
                                                    .normalise = command.normalise},
                                                   context);
  Deliver(
      experiment,
      {kMapShown,
       {"relative_reconstruction_error", "{:.3f}", false,
        "Reconstruction error, share of the vectors' variance"},
       kSecondsShown},
      command.html, [&] { return JointReport(experiment); }, command.if_exists, session);
  return kExitFine;
}

void AddJoint(CLI::App* parent, Session& session) {
  const auto command = std::make_shared<JointCommand>();
  JointOptions& options = command->options;
  CLI::App* app =
      parent->add_subcommand("joint", "Aggregating and hashing together (SAH), and apart");
  app->add_option("--features", command->training, "Training images as local features (.bpf)")
      ->required();
  app->add_option("--database", command->database, "Images to search (.bpf)")->required();
  app->add_option("--queries", command->queries, "Images to ask with (.bpf)");
  app->add_option("--truth", command->truth, "Right answers: a row per query (.ivecs, .npy)");
  app->add_option("--labels", command->labels, "Labels of the database");
  app->add_option("--query-labels", command->query_labels, "Labels of the queries");
  app->add_flag("--holidays", command->holidays,
                "The database is INRIA Holidays: names tell queries and answers");
  app->add_option("--bits", options.bits, "Lengths of the codes")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--methods", options.methods, "Methods to compare")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--seeds", options.seeds, "Runs of each method")->capture_default_str();
  app->add_option("--mu", options.mu, "Of generalised max pooling")->capture_default_str();
  app->add_option("--config", command->configs, "Constants that tune has written, for each method");
  app->add_flag("!--no-normalise", command->normalise, "Take local features as they are");
  app->add_option("--memory", command->memory_mib, "MiB for images; beyond, they go to a file")
      ->capture_default_str();
  app->add_option("--html", command->html, "Also write a report with charts");
  AddForce(app, command->if_exists);
  app->footer(
      "Example:\n  bitpool experiment joint --features train.bpf --database holidays.bpf "
      "--holidays "
      "--config sah.json --config rba.json --html joint.html");
  app->callback([command, &session] {
    session.action = [command, &session] { return RunJoint(*command, session); };
  });
}

}  // namespace

void AddExperiment(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("experiment", "Repeat an experiment of the paper on real data");
  command->require_subcommand(1);
  command->fallthrough();
  command->footer("Example:\n  bitpool experiment unsupervised --dataset mnist");
  AddUnsupervised(command, session);
  AddJoint(command, session);
}

}  // namespace bitpool::app
