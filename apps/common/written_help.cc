#include "written_help.h"

#include <span>

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/env.h"
#include "completion.h"
#include "manual.h"

namespace bitpool::app {
namespace {

void Write(const std::string& file, const std::string& text) {
  WriteFile(Env::Posix(), file, std::as_bytes(std::span(text)), IfExists::kReplace);
}

}  // namespace

void WriteHelp(const CLI::App& program, const std::string& version, const std::string& folder) {
  const std::vector<CommandText> commands = DescribeCommands(program);
  Env::Posix().MakeFolders(folder + "/man");
  for (const CommandText& command : commands) {
    Write(folder + "/man/" + JoinWords(command, "-") + ".1",
          ManualPage(command, commands, version));
  }
  const std::string& name = program.get_name();
  const std::string completion = folder + "/completion/";
  Env::Posix().MakeFolders(completion);
  Write(completion + name, BashCompletion(commands));
  Write(completion + "_" + name, ZshCompletion(commands));
  Write(completion + name + ".fish", FishCompletion(commands));
}

}  // namespace bitpool::app
