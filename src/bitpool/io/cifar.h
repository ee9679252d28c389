#pragma once

#include <memory>

#include "bitpool/io/sample_file.h"

namespace bitpool {

// CIFAR-10's binary batches: per picture one label (0 to 9) and 3,072 bytes, the red, green and
// blue planes of 32×32.
struct CifarBatch {
  SampleFile pictures;  // shape 3×32×32
  SampleFile labels;    // one number each
};

// Throws kCorrupt with the offset of the first thing that is wrong.
CifarBatch ParseCifar(const std::shared_ptr<const FileView>& view);

}  // namespace bitpool
