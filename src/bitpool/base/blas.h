#pragma once

#include <string>

namespace bitpool {

// Makes the library's own copy of OpenBLAS ready: one thread, and the best kernels this processor
// is able to run. Runs by itself when the program or library is loaded; whatever names it (the task
// pool does) makes the linker include it.
void PrepareBlas();

// What the algebra runs on, such as "OpenBLAS 0.3.21 … SkylakeX", for reports.
std::string DescribeBlas();

}  // namespace bitpool
