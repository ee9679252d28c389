#pragma once

#include <functional>

#include "session.h"

namespace bitpool::app {

// What tells one program from another.
struct Program {
  const char* name;
  const char* description;
  const char* footer;
  // Adds the subcommands.
  std::function<void(CLI::App& app, Session& session)> add;
};

// The whole of main: parses the command line, runs the subcommand, and turns what goes wrong into
// one line and an exit status.
int RunProgram(const Program& program, int argc, char** argv);

}  // namespace bitpool::app
