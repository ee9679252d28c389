#pragma once

#include "bitpool/export.h"

namespace bitpool {

// "major.minor.patch" of the library that is linked.
BITPOOL_EXPORT const char* Version();

}  // namespace bitpool
