#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "bitpool/experiments/unsupervised_experiment.h"
#include "experiment.h"

namespace bitpool::app {
namespace {

struct UnsupervisedCommand {
  UnsupervisedOptions options;
  std::string dataset, folder, html;
  IfExists if_exists = IfExists::kFail;
};

int RunUnsupervised(const UnsupervisedCommand& command, const Session& session) {
  Env& env = Env::Posix();
  UnsupervisedOptions options = command.options;
  if (options.methods == std::vector<std::string>{"all"}) {
    options.methods = UnsupervisedOptions().methods;
  }
  options.Validate();
  if (!command.html.empty()) RequireWritable(env, command.html, command.if_exists);
  const RunContext context = session.MakeContext();
  const VectorSet set = LoadVectorSet(env, command.dataset, DataFolder(command.folder), context,
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

}  // namespace

void AddUnsupervisedExperiment(CLI::App* parent, Session& session) {
  const auto command = std::make_shared<UnsupervisedCommand>();
  UnsupervisedOptions& options = command->options;
  const std::vector<std::string> sets = PublicSetNames();
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
  app->add_option("--queries", options.queries, "Test vectors that search")->capture_default_str();
  app->add_option("--neighbours", options.neighbours, "Euclidean neighbours that count as right")
      ->capture_default_str();
  app->add_option("--limit", options.limit,
                  "Use only this many training vectors, for a quick look");
  app->add_flag("!--no-surface", options.surface, "Do not measure RBA over its constants");
  app->add_option("--html", command->html, "Also write a report with charts")->check(NotEmpty());
  AddForce(app, command->if_exists);
  app->footer(
      "Example:\n  bitpool experiment unsupervised --dataset mnist --bits 16,32 --methods rba,itq "
      "--html mnist.html");
  app->callback([command, &session] {
    session.action = [command, &session] { return RunUnsupervised(*command, session); };
  });
}

}  // namespace bitpool::app
