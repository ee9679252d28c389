#include "program.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

void AddSubcommands(CLI::App& app, Session& session) {
  AddCoder(app, session);
  AddConvert(app, session);
  AddData(app, session);
  AddDedupe(app, session);
  AddEncode(app, session);
  AddEval(app, session);
  AddExperiment(app, session);
  AddExport(app, session);
  AddExtract(app, session);
  AddIndex(app, session);
  AddIndexCodes(app, session);
  AddInspect(app, session);
  AddPool(app, session);
  AddQuery(app, session);
  AddReproduce(app, session);
  AddSearch(app, session);
  AddServe(app, session);
  AddTrain(app, session);
  AddTruth(app, session);
  AddTune(app, session);
  AddVerify(app, session);
}

}  // namespace
}  // namespace bitpool::app

int main(int argc, char** argv) {
  return bitpool::app::RunProgram(
      {.name = "bitpool",
       .description = "Image retrieval with compact binary codes whose aggregation and hashing are "
                      "learned together.",
       .footer = "Example:\n  bitpool data get mnist\n\n`bitpool SUBCOMMAND --help` has more.",
       .add = bitpool::app::AddSubcommands},
      argc, argv);
}
