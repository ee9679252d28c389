#pragma once

#include <memory>
#include <string_view>

#include "bitpool/hash/hash_encoder.h"
#include "bitpool/io/container.h"

namespace bitpool {

// How encoders of one kind come back from a model file. The kind of a method's encoder is part of
// its entry in the registry, which is how files of all kinds can be read.
struct EncoderKind {
  std::string_view name;  // HashEncoder::kind
  // Throws kCorrupt, naming the section, for arrays of the wrong shape, and kInvalidArgument for
  // what the encoder itself refuses.
  std::shared_ptr<const HashEncoder> (*read)(const Container& container) = nullptr;
};

EncoderKind LinearEncoders();
EncoderKind SphereEncoders();
EncoderKind ProductEncoders();
EncoderKind KernelEncoders();
EncoderKind TwoLayerEncoders();

}  // namespace bitpool
