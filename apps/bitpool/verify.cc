#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/inspect.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

int Verify(const std::vector<std::string>& files, const Session& session) {
  const RunContext context = session.MakeContext();
  nlohmann::json results = nlohmann::json::array();
  int status = kExitFine;
  for (const std::string& file : files) {
    std::string problem;
    try {
      VerifyFile(Env::Posix(), file, context);
      session.Say(fmt::format("{}: fine", file));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      problem = error.what();
      Session::Complain(problem);
      status = files.size() == 1 ? ExitStatusOf(error.code()) : kExitSomeFailed;
    }
    results.push_back({{"file", file}, {"fine", problem.empty()}, {"problem", problem}});
  }
  if (session.json()) Session::Print(results);
  return status;
}

}  // namespace

void AddVerify(CLI::App& app, Session& session) {
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("verify", "Read files completely and check every byte");
  command->add_option("FILE", *files, "Any files Bitpool reads")->required();
  command->footer("Example:\n  bitpool verify holidays.bpf");
  command->callback([files, &session] {
    session.action = [files, &session] { return Verify(*files, session); };
  });
}

}  // namespace bitpool::app
