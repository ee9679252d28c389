#pragma once

#include <string>
#include <string_view>

namespace bitpool {

// A file name, which may be any bytes, as text for people: what is not UTF-8, control characters,
// line ends and marks that change the direction of writing become U+FFFD. So a name can neither
// command a terminal nor look like another name or like a message of ours.
std::string ShownName(std::string_view name);

// The same for text of ours that may contain names: its line ends and tabs are kept.
std::string ShownText(std::string_view text);

}  // namespace bitpool
