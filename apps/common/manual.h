#pragma once

#include <string>
#include <vector>

#include "command_line.h"

namespace bitpool::app {

// A page of the manual in roff, section 1: bitpool-data-get for `bitpool data get`. `all` are the
// commands of the program, the program itself first.
std::string ManualPage(const CommandText& command, const std::vector<CommandText>& all,
                       const std::string& version);

}  // namespace bitpool::app
