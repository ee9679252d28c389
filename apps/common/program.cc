#include "program.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/shown_text.h"
#include "bitpool/io/mapping_guard.h"
#include "bitpool/version.h"
#include "interrupt.h"
#include "number_checks.h"
#include "written_help.h"

namespace bitpool::app {
namespace {

int RunAction(const Session& session) {
  try {
    const int status = session.action();
    RequireMappedFilesWhole();
    return status;
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

// A hidden way to write what packages have beside the program, without a subcommand.
void AddWrittenHelp(CLI::App& app, const std::string& version, Session& session) {
  app.add_option_function<std::string>("--write-help",
                                       [&app, version, &session](const std::string& folder) {
                                         app.require_subcommand(0);
                                         session.action = [&app, version, folder] {
                                           WriteHelp(app, version, folder);
                                           return kExitFine;
                                         };
                                       })
      ->group("");
}

// A usage error that CLI11 found, in the form of all other errors.
std::string UsageError(const CLI::App* app, const CLI::Error& error) {
  std::string text = error.what();
  // CLI11 notices what is missing first, though a word that it does not know may be the reason.
  const std::vector<std::string> unknown = app->remaining(true);
  if (error.get_name() == "RequiredError" && !unknown.empty()) {
    text += fmt::format(" (not known: {})", unknown.front());
  }
  // The values of all numeric options were checked to be numbers (RequireNumbers), so one that
  // CLI11 cannot convert does not fit its type.
  static constexpr std::string_view kUnconverted = "Could not convert: ";
  if (text.starts_with(kUnconverted)) text.replace(0, kUnconverted.size(), "out of range: ");
  return fmt::format("bitpool: {}\nRun with --help for more information.\n", text);
}

int Main(const Program& program, int argc, char** argv) {
  CLI::App app(program.description, program.name);
  const std::string version = std::string(program.name) + " " + Version();
  app.set_version_flag("--version", version);
  app.footer(program.footer);
  app.require_subcommand(1);
  app.fallthrough();
  app.failure_message(UsageError);
  Session session(app);
  program.add(app, session);
  AddWrittenHelp(app, version, session);
  RequireNumbers(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int status = app.exit(error, out, err);
    std::fputs(out.str().c_str(), stdout);
    std::fputs(ShownText(err.str()).c_str(), stderr);
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

int RunProgram(const Program& program, int argc, char** argv) {
  try {
    return Main(program, argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("bitpool: out of memory\n", stderr);
    return kExitResources;
  } catch (...) {
    std::fputs("bitpool: internal error\n", stderr);
    return kExitInternal;
  }
}

}  // namespace bitpool::app
