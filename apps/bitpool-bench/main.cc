#include <nlohmann/json.hpp>

#include "bench.h"
#include "program.h"

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

namespace {

void AddBenchmarks(CLI::App& app, Session& session) {
  AddHammingBench(&app, session);
  AddAsymmetricBench(&app, session);
  AddTrainingBench(&app, session);
  AddPoolingBench(&app, session);
  AddQuantisationBench(&app, session);
  AddDuplicatesBench(&app, session);
  AddMatchingBench(&app, session);
  AddLibraryBench(&app, session);
  AddServeBench(&app, session);
}

}  // namespace
}  // namespace bitpool::app

int main(int argc, char** argv) {
  return bitpool::app::RunProgram(
      {.name = "bitpool-bench",
       .description = "Measures speed and accuracy, beside peers in the same run.",
       .footer = "Example:\n  bitpool-bench hamming --bits 64 --codes 1000000 --threads 1",
       .add = bitpool::app::AddBenchmarks},
      argc, argv);
}
