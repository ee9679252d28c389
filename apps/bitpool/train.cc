#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/vector_file.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/pipeline/hash_methods.h"
#include "bitpool/pipeline/model_file.h"
#include "session.h"
#include "table.h"

namespace bitpool::app {
namespace {

struct TrainOptions {
  HashSettings settings;
  std::string vectors, out, preset = "default";
  IfExists if_exists = IfExists::kFail;
};

std::string IterationTable(const TrainingSummary& summary) {
  std::vector<std::vector<std::string>> rows = {
      {"iteration", "objective", "reconstruction", "quantisation", "flipped %", "seconds"}};
  for (size_t i = 0; i < summary.iterations.size(); ++i) {
    const TrainingIteration& record = summary.iterations[i];
    rows.push_back(
        {std::to_string(i + 1), fmt::format("{:.6g}", record.objective),
         fmt::format("{:.6g}", record.reconstruction), fmt::format("{:.6g}", record.quantisation),
         fmt::format("{:.3f}", 100 * record.flipped), fmt::format("{:.2f}", record.seconds)});
  }
  return FormatTable(rows);
}

int Train(const TrainOptions& options, const Session& session) {
  Env& env = Env::Posix();
  RequireWritable(env, options.out, options.if_exists);
  HashSettings settings = options.settings;
  settings.paper = options.preset == "paper";
  const RunContext context = session.MakeContext();
  const VectorFile vectors(OpenSamples(env, options.vectors));
  const Trained<HashModel> trained =
      NamingTheFile(options.vectors, [&] { return TrainHash(settings, vectors, context); });
  const nlohmann::json training = DescribeTraining(settings, trained.summary, context.seed());
  SaveModel(env, options.out, {.model = trained.model, .training = training}, options.if_exists);
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
  HashSettings& settings = options->settings;
  CLI::App* command = app.add_subcommand("train", "Learn binary codes from vectors");
  std::vector<std::string> names;
  for (const HashMethod& method : VectorMethods()) names.emplace_back(method.name);
  command
      ->add_option("--method", settings.method, "How: " + fmt::format("{}", fmt::join(names, ", ")))
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command->add_option("--bits", settings.bits, "Length of the codes")->capture_default_str();
  command->add_option("--vectors", options->vectors, "Training vectors, a file of any known format")
      ->required();
  command->add_option("-o,--out", options->out, "Where to write the model (.bpm)")->required();
  command
      ->add_option("--preset", options->preset,
                   "Constants: default holds at any scale of the data; paper is literal (rba)")
      ->check(CLI::IsMember({"default", "paper"}))
      ->capture_default_str();
  command->add_option("--iterations", settings.iterations, "At most so many iterations");
  command->add_option("--lambda", settings.lambda, "Weight of the quantisation loss (rba)");
  command->add_option("--beta", settings.beta, "Weight of the regularisation (rba)");
  AddForce(command, options->if_exists);
  command->footer(
      "Example:\n  bitpool train --method rba --bits 32 --vectors base.fvecs -o rba.bpm");
  command->callback([options, &session] {
    session.action = [options, &session] { return Train(*options, session); };
  });
}

}  // namespace bitpool::app
