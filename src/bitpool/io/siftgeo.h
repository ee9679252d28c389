#pragma once

#include <memory>

#include "bitpool/io/sample_file.h"

namespace bitpool {

// INRIA's siftgeo, one file per picture: for every descriptor nine floats of geometry, the
// dimension 128 as an int32, and 128 bytes. Reads the descriptors. An empty file is a picture
// without descriptors.
SampleFile ParseSiftgeo(const std::shared_ptr<const FileView>& view);

}  // namespace bitpool
