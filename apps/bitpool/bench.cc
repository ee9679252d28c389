#include "bench.h"

#include <nlohmann/json.hpp>

namespace bitpool::app {

int Show(const Session& session, const nlohmann::json& found,
         std::string (*readable)(const nlohmann::json&)) {
  if (session.json()) {
    Session::Print(found);
  } else {
    Session::Print(readable(found));
  }
  return kExitFine;
}

void AddBench(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("bench", "Measure speed, beside peers in the same run");
  command->require_subcommand(1);
  command->fallthrough();
  command->footer("Example:\n  bitpool bench hamming --bits 64 --codes 1000000 --threads 1");

  AddHammingBench(command, session);
  AddAsymmetricBench(command, session);
  AddTrainingBench(command, session);
  AddPoolingBench(command, session);
  AddQuantisationBench(command, session);
  AddDuplicatesBench(command, session);
}

}  // namespace bitpool::app
