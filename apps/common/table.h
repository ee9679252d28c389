#pragma once

#include <string>
#include <vector>

namespace bitpool::app {

// Lines up cells in columns: the first row is the heading, numbers go to the right.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

// 1536 → "1.5 KiB".
std::string FormatBytes(double bytes);

}  // namespace bitpool::app
