#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/label_file.h"
#include "bitpool/dataset/vector_file.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/samples/labels.h"
#include "bitpool/training/feature_training.h"
#include "bitpool/training/model_file.h"
#include "config.h"
#include "number_checks.h"
#include "subcommands.h"
#include "table.h"

namespace bitpool::app {
namespace {

struct TrainOptions {
  MethodSettings settings;
  std::string vectors, features, labels, config, out;
  Index images_per_picture = 1, parts = 0;
  uint64_t memory_mib = 1024;
  bool resume = false;
  IfExists if_exists = IfExists::kFail;
};

std::string IterationTable(const TrainingSummary& summary) {
  std::vector<std::vector<std::string>> rows = {{"iteration", "objective", "reconstruction",
                                                 "quantisation", "aggregation", "flipped %",
                                                 "seconds"}};
  for (size_t i = 0; i < summary.iterations.size(); ++i) {
    const TrainingIteration& record = summary.iterations[i];
    rows.push_back(
        {std::to_string(i + 1), fmt::format("{:.6g}", record.objective),
         fmt::format("{:.6g}", record.reconstruction), fmt::format("{:.6g}", record.quantisation),
         fmt::format("{:.6g}", record.aggregation), fmt::format("{:.3f}", 100 * record.flipped),
         fmt::format("{:.2f}", record.seconds)});
  }
  return FormatTable(rows);
}

// Throws for more views than the pictures have.
void RequireViews(const TrainOptions& options, Index images_per_picture) {
  const auto views = options.settings.options.find("views");
  if (views == options.settings.options.end() || images_per_picture < 2) return;
  if (views->second < static_cast<double>(images_per_picture)) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("--views: {}: every picture has {} views",
                                                       views->second, images_per_picture - 1));
}

Trained<HashModel> TrainOn(const TrainOptions& options, const MethodSettings& settings,
                           const RunContext& context) {
  Env& env = Env::Posix();
  if (options.vectors.empty() == options.features.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "expected either --vectors or --features");
  }
  std::optional<Labels> labels;
  if (!options.labels.empty()) labels = LoadLabels(env, options.labels);
  if (options.features.empty()) {
    RequireViews(options, options.images_per_picture);
    const VectorFile vectors(OpenSamples(env, options.vectors));
    return NamingTheFile(options.vectors, [&] {
      return TrainOnVectors(settings,
                            {.vectors = vectors,
                             .labels = labels ? &*labels : nullptr,
                             .per_picture = options.images_per_picture},
                            context);
    });
  }
  const FeatureFile features = FeatureFile::Open(env, options.features);
  return NamingTheFile(options.features, [&] {
    const FeatureTraining training{.settings = settings,
                                   .output = options.out,
                                   .labels = labels ? &*labels : nullptr,
                                   .memory = options.memory_mib << 20,
                                   .resume = options.resume};
    if (options.parts == 0) {
      RequireViews(options, features.images_per_picture());
      return TrainOnFeatures(env, training, features, context);
    }
    const DescriptorParts parts(features, options.parts, context.seed());
    RequireViews(options, parts.images_per_picture());
    return TrainOnFeatures(env, training, parts, context);
  });
}

// Throws when there can be nothing to go on from, instead of starting again.
void RequireResumable(const TrainOptions& options) {
  if (!options.resume) return;
  if (!options.features.empty() && WritesCheckpoints(FindMethod(options.settings.method))) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("--resume: only a training on --features by {} can go on",
                          ListMethods(MethodNames(WritesCheckpoints))));
}

[[noreturn]] void RefuseIneffective(const std::string& option, const std::string& without) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("--{}: has no effect without {}", option, without));
}

// Throws for an option on the command line that changes nothing; in a file of constants, such as
// tune writes, it may stand.
void RequireEffect(const TrainOptions& options, const MethodSettings& settings) {
  const OptionValues& given = options.settings.options;
  for (const char* option : {"epsilon", "views"}) {
    if (given.contains(option) && !TakesViews(settings)) RefuseIneffective(option, "--whiten");
  }
  if (options.parts != 0 && !TakesViews(settings)) RefuseIneffective("parts", "--whiten");
  for (const char* option : {"kernel_width", "kernel_ridge", "kernel_vectors"}) {
    if (!given.contains(option) || ValueOf(settings, "anchors") != 0) continue;
    std::string written = option;
    std::ranges::replace(written, '_', '-');
    RefuseIneffective(written, "--anchors");
  }
}

int Train(const TrainOptions& options, const Session& session) {
  Env& env = Env::Posix();
  RequireWritable(env, options.out, options.if_exists);
  RequireResumable(options);
  MethodSettings settings = options.settings;
  if (!options.config.empty()) settings = LoadConfig(options.config, settings);
  RequireEffect(options, settings);
  const RunContext context = session.MakeContext();
  const Trained<HashModel> trained = TrainOn(options, settings, context);
  for (const std::string& name : trained.summary.skipped) {
    session.Say(fmt::format("{}: no descriptors, left out", name));
  }
  const nlohmann::json training = DescribeTraining(settings, trained.summary, context.seed());
  SaveModel(env, options.out, {.model = trained.model, .training = training}, options.if_exists);
  if (!options.features.empty() && !trained.summary.interrupted) RemoveCheckpoint(env, options.out);
  if (session.json()) {
    Session::Print(training);
  } else if (!trained.summary.iterations.empty()) {
    session.Say(IterationTable(trained.summary));
  }
  session.Say(fmt::format("{}: {} of {} bits, {}", options.out, trained.model.method,
                          trained.model.bits(), trained.summary.BriefReport()));
  return trained.summary.interrupted ? kExitInterrupted : kExitFine;
}

}  // namespace

void AddTrain(CLI::App& app, Session& session) {
  const auto options = std::make_shared<TrainOptions>();
  MethodSettings& settings = options->settings;
  CLI::App* command =
      app.add_subcommand("train", "Learn binary codes from vectors or local features");
  command->add_option("--method", settings.method, "How: " + ListMethods(MethodNames()))
      ->check(CLI::IsMember(MethodNames()))
      ->capture_default_str();
  command->add_option("--bits", settings.bits, "Length of the codes")->capture_default_str();
  CLI::Option* vectors = command->add_option("--vectors", options->vectors,
                                             "Training vectors, a file of any known format");
  CLI::Option* features =
      command->add_option("--features", options->features,
                          "Training images as local features (.bpf); needed by " +
                              ListMethods(MethodNames([](const Method& method) {
                                return method.learns_from == LearnsFrom::kLocalFeatures;
                              })));
  command->add_option(
      "--labels", options->labels,
      "Their classes, for methods that learn from them (" +
          ListMethods(MethodNames([](const Method& method) { return method.needs_labels; })) + ")");
  command
      ->add_option(
          "--images-per-picture", options->images_per_picture,
          "Of --vectors: every picture is followed by its views; this many images together")
      ->needs(vectors)
      ->check(WholeFrom(1))
      ->capture_default_str();
  command
      ->add_option("--parts", options->parts,
                   "Of --features without views: this many disjoint random parts of an image's "
                   "features stand in for them")
      ->needs(features);
  command->add_option("-o,--out", options->out, "Where to write the model (.bpm)")->required();
  command
      ->add_option("--preset", settings.preset,
                   "Constants: default holds at any scale of the data; paper is literal (" +
                       ListMethods(MethodNames(
                           [](const Method& method) { return !method.presets.empty(); })) +
                       ")")
      ->check(CLI::IsMember({kDefaultPreset, kPaperPreset}))
      ->capture_default_str();
  AddMethodOptions(command, settings);
  command->add_option("--config", options->config, "Constants that tune has written");
  command->add_option("--memory", options->memory_mib, "MiB for images; beyond, they go to a file")
      ->capture_default_str();
  command->add_flag("--resume", options->resume,
                    "Go on where an interrupted training on --features stopped (" +
                        ListMethods(MethodNames(WritesCheckpoints)) + ")");
  AddForce(command, options->if_exists);
  command->footer(
      "Example:\n  bitpool train --method rba --bits 32 --vectors base.fvecs -o rba.bpm\n"
      "  bitpool train --method sah --bits 32 --features images.bpf -o sah.bpm\n"
      "  bitpool train --method itq --whiten --bits 32 --features views.bpf -o itq.bpm\n"
      "  bitpool train --method sash --bits 32 --features images.bpf --labels classes.txt -o "
      "s.bpm");
  command->callback([options, &session] {
    session.action = [options, &session] { return Train(*options, session); };
  });
}

}  // namespace bitpool::app
