#pragma once

#include <memory>

#include "bitpool/io/sample_file.h"

namespace bitpool {

// IDX files of unsigned bytes, as MNIST and Fashion-MNIST are distributed (unpacked): labels (one
// dimension) or pictures (three).
SampleFile ParseIdx(const std::shared_ptr<const FileView>& view);

}  // namespace bitpool
