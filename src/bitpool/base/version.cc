#include "bitpool/version.h"

namespace bitpool {

const char* Version() { return BITPOOL_VERSION; }

}  // namespace bitpool
