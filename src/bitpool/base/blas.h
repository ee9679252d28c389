#pragma once

#include <string>

namespace bitpool {

// Makes the library's own copy of OpenBLAS ready: one thread, and the kernels this processor is
// able to run. Called once when the program or library is loaded; the task pool sees to it.
void PrepareBlas();

// What the algebra runs on, such as "OpenBLAS 0.3.21 … SkylakeX", for reports.
std::string DescribeBlas();

}  // namespace bitpool
