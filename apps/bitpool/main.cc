#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "bitpool/base/version.h"
#include "interrupt.h"
#include "session.h"

namespace bitpool::app {
namespace {

int RunAction(const Session& session) {
  try {
    return session.action();
  } catch (const Error& error) {
    Session::Complain(error.what());
    return ExitStatusOf(error.code());
  } catch (const std::bad_alloc&) {
    Session::Complain("out of memory");
    return kExitResources;
  } catch (const std::exception& error) {
    Session::Complain(std::string("internal error: ") + error.what());
    return kExitInternal;
  }
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Image retrieval with compact binary codes whose aggregation and hashing are learned "
      "together.",
      "bitpool");
  app.set_version_flag("--version", std::string("bitpool ") + Version());
  app.footer("Example:\n  bitpool data get mnist\n\n`bitpool SUBCOMMAND --help` has more.");
  app.require_subcommand(1);
  app.fallthrough();
  Session session(app);
  AddBench(app, session);
  AddConvert(app, session);
  AddData(app, session);
  AddDedupe(app, session);
  AddEncode(app, session);
  AddEval(app, session);
  AddExperiment(app, session);
  AddExtract(app, session);
  AddIndex(app, session);
  AddIndexCodes(app, session);
  AddInspect(app, session);
  AddPool(app, session);
  AddQuery(app, session);
  AddReproduce(app, session);
  AddSearch(app, session);
  AddTrain(app, session);
  AddTruth(app, session);
  AddTune(app, session);
  AddVerify(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? kExitFine : kExitUsage;
  }
  session.set_stop(CatchInterrupts());
  const int status = RunAction(session);
  std::fflush(stdout);
  std::fflush(stderr);
  // Without destructors of statics: the thread that waits for signals is still there.
  std::_Exit(status);
}

}  // namespace
}  // namespace bitpool::app

int main(int argc, char** argv) {
  try {
    return bitpool::app::Main(argc, argv);
  } catch (...) {
    std::fputs("bitpool: internal error\n", stderr);
    return bitpool::app::kExitInternal;
  }
}
