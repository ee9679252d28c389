#pragma once

#include <memory>

#include "bitpool/io/sample_file.h"

namespace bitpool {

// fvecs (f4), bvecs (u1) and ivecs (i4): every sample is preceded by its dimension as an int32, the
// same for all.
SampleFile ParseVecs(const std::shared_ptr<const FileView>& view, DType dtype);

}  // namespace bitpool
