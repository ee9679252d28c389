#pragma once

#include <string_view>

namespace bitpool {

// The style sheet of reports and of the charts in them: one theme by day, one by night, and the
// day's theme on paper.
std::string_view PageStyle();

}  // namespace bitpool
