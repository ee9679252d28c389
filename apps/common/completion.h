#pragma once

#include <string>
#include <vector>

#include "command_line.h"

namespace bitpool::app {

// Scripts by which a shell completes subcommands, options, the words an option may take, and files.
// `all` are the commands of the program, the program itself first.
std::string BashCompletion(const std::vector<CommandText>& all);
std::string ZshCompletion(const std::vector<CommandText>& all);
std::string FishCompletion(const std::vector<CommandText>& all);

}  // namespace bitpool::app
