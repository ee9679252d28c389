#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bitpool/dataset/public_sets.h"
#include "bitpool/experiments/showcase.h"
#include "bitpool/io/atomic_file.h"
#include "experiment.h"

namespace bitpool::app {
namespace {

struct ShowcaseCommand {
  ShowcaseOptions options;
  std::string dataset = "fashion-mnist", folder, html;
  IfExists if_exists = IfExists::kFail;
};

int RunShowcaseCommand(const ShowcaseCommand& command, const Session& session) {
  Env& env = Env::Posix();
  command.options.Validate();
  if (!command.html.empty()) RequireWritable(env, command.html, command.if_exists);
  const PublicPictures pictures =
      LoadPublicSet(env, FindPublicSet(command.dataset), DataFolder(command.folder));
  const ShowcaseResult result =
      RunShowcase(command.options, command.dataset, pictures, session.MakeContext());
  if (!command.html.empty()) {
    const std::string page = ShowcaseReport(result, pictures);
    WriteFile(env, command.html, std::as_bytes(std::span(page)), command.if_exists);
    session.Say(fmt::format("{}: the report", command.html));
  }
  if (session.json()) {
    Session::Print(ToJson(result.experiment));
  } else {
    Session::Print(result.experiment.title + "\n\n" + TextTable(ShowcaseTable(result.experiment)));
  }
  return kExitFine;
}

}  // namespace

void AddShowcaseExperiment(CLI::App* parent, Session& session) {
  const auto command = std::make_shared<ShowcaseCommand>();
  ShowcaseOptions& options = command->options;
  const std::vector<std::string> sets = PublicSetNames();
  CLI::App* app =
      parent->add_subcommand("showcase", "The whole way from pictures to answers, on a public set");
  app->add_option("--dataset", command->dataset,
                  "One of " + fmt::format("{}", fmt::join(sets, ", ")))
      ->check(CLI::IsMember(sets))
      ->capture_default_str();
  app->add_option("--dir", command->folder, "Where `data get` has put the sets");
  app->add_option("--bits", options.bits, "Length of the codes")->capture_default_str();
  app->add_option("--queries", options.queries, "Test pictures that search; 0: all");
  app->add_option("--html", command->html, "Also write a report with pictures")->check(NotEmpty());
  AddForce(app, command->if_exists);
  app->footer("Example:\n  bitpool experiment showcase --html showcase.html");
  app->callback([command, &session] {
    session.action = [command, &session] { return RunShowcaseCommand(*command, session); };
  });
}

}  // namespace bitpool::app
