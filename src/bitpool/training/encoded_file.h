#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "bitpool/codes/binary_codes.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/hash_encoder.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/env.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool {

enum class EncodedContent {
  kCodes,        // .npy, .bpv or .hex, as LoadCodes reads them
  kProjections,  // the real numbers whose signs are the codes, a row each: .npy, .bpv or .fvecs
};

// A file of what a model makes of vectors or images, written batch by batch.
class EncodedFileWriter {
 public:
  // Throws as CreateSamples for a file of numbers.
  EncodedFileWriter(Env& env, std::filesystem::path path, int bits, EncodedContent content,
                    IfExists if_exists);

  // What the sinks of EncodeBatch and EncodeImages get, in order.
  void Append(const EncodedVectors& encoded) { Append(encoded.codes, encoded.projections); }
  void Append(const EncodedImages& encoded) { Append(encoded.codes, encoded.projections); }

  // Nothing is left of a file that is not committed.
  void Commit();

  Index size() const { return size_; }

 private:
  void Append(const BinaryCodes& codes, const MatrixF& projections);

  Env& env_;
  std::filesystem::path path_;
  int bits_;
  IfExists if_exists_;
  std::unique_ptr<SampleWriter> numbers_;  // null for codes
  std::vector<uint8_t> rows_;              // of codes
  Index size_ = 0;
};

}  // namespace bitpool
