#include "bitpool/training/encoded_file.h"

#include <utility>

#include "bitpool/index/code_files.h"

namespace bitpool {

EncodedFileWriter::EncodedFileWriter(Env& env, std::filesystem::path path, int bits,
                                     EncodedContent content, IfExists if_exists)
    : env_(env), path_(std::move(path)), bits_(bits), if_exists_(if_exists) {
  if (content == EncodedContent::kProjections) {
    numbers_ = CreateSamples(env, path_, DType::kF4, {static_cast<uint64_t>(bits)}, if_exists);
  }
}

void EncodedFileWriter::Append(const BinaryCodes& codes, const MatrixF& projections) {
  size_ += codes.size();
  if (numbers_ != nullptr) {
    numbers_->Append<float>({projections.data(), static_cast<size_t>(projections.size())});
  } else {
    rows_.insert(rows_.end(), codes.rows().begin(), codes.rows().end());
  }
}

void EncodedFileWriter::Commit() {
  if (numbers_ != nullptr) {
    numbers_->Commit();
  } else {
    SaveCodes(env_, path_, BinaryCodes(bits_, std::move(rows_)), if_exists_);
  }
}

}  // namespace bitpool
