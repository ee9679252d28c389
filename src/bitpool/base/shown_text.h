#pragma once

#include <string>
#include <string_view>

namespace bitpool {

// A name of a file, which may be any bytes, as text for people: what is not UTF-8, control
// characters, ends of lines and marks that change the direction of writing become U+FFFD. So a name
// cannot command a terminal, and does not look like another or like a message of ours.
std::string ShownName(std::string_view name);

// The same for text of ours that may have names in it: it keeps its lines and tabs.
std::string ShownText(std::string_view text);

}  // namespace bitpool
