#pragma once

namespace bitpool {

// "major.minor.patch" of this library.
const char* Version();

}  // namespace bitpool
