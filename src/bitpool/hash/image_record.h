#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/pool/pooling_system.h"
#include "bitpool/samples/feature_set.h"

namespace bitpool {

// The numbers of a packed record. Halves are enough for descriptors of length one: their rounding
// is small beside μ. It grows with the square of the length, and then VVᵀ + μI is soon no longer
// positive definite.
enum class RecordPrecision { kHalf, kSingle };

inline RecordPrecision PrecisionFor(bool unit_length) {
  return unit_length ? RecordPrecision::kHalf : RecordPrecision::kSingle;
}

// What the passes of a joint training need of one image: VVᵀ and V1, or the descriptors V
// themselves where they are not more numbers. Packed, in half precision relative to the largest
// value where that is enough, so that a training set of many descriptors becomes small: at most 265
// KB for D = 512, at any number of descriptors.
class ImageRecord {
 public:
  // Throws kInvalidArgument without descriptors, or for values that are not finite or too large for
  // a finite VVᵀ where that is kept.
  static ImageRecord Reduce(const MatrixFRef& descriptors,
                            RecordPrecision precision = RecordPrecision::kHalf);

  // φ of the image by the system, from the record alone.
  VectorF Solve(const PoolingSystem& system, const PoolingHints& hints) const;

  // ‖Vᵀφ − 1‖², how unequal the similarities of φ to the descriptors are.
  double Inequality(const VectorFRef& vector) const;

  bool has_gram() const { return has_gram_; }

  // The bytes that Pack makes of an image with this many descriptors.
  static size_t PackedBytes(Index dimension, Index descriptors, RecordPrecision precision);
  // As bytes, for stores.
  std::vector<std::byte> Pack() const;
  // The record from which Pack made these bytes, for the same dimension. Throws kCorrupt for other
  // lengths.
  static ImageRecord Unpack(std::span<const std::byte> bytes, Index dimension);

 private:
  RecordPrecision precision_ = RecordPrecision::kHalf;
  bool has_gram_ = false;
  Index descriptors_ = 0;  // n
  MatrixF matrix_;         // VVᵀ (lower triangle, the upper one is zero) or V
  VectorF sum_;            // V1
};

// Where the records of all images are kept between the passes. Records are appended in order and
// then read, from many threads.
class RecordStore {
 public:
  explicit RecordStore(Index dimension) : dimension_(dimension) {}
  virtual ~RecordStore() = default;

  Index dimension() const { return dimension_; }  // of the descriptors
  virtual Index size() const = 0;
  virtual void Append(std::vector<std::byte> record) = 0;
  // All records have been appended; only now may they be read.
  virtual void Finish() {}
  ImageRecord Read(Index image) const;

 private:
  // The bytes are valid until `buffer` is used again, or the store is destroyed.
  virtual std::span<const std::byte> ReadBytes(Index image,
                                               std::vector<std::byte>& buffer) const = 0;

  Index dimension_;
};

class MemoryRecords : public RecordStore {
 public:
  using RecordStore::RecordStore;
  Index size() const override { return static_cast<Index>(records_.size()); }
  void Append(std::vector<std::byte> record) override { records_.push_back(std::move(record)); }

 private:
  std::span<const std::byte> ReadBytes(Index image,
                                       std::vector<std::byte>& /*buffer*/) const override {
    return records_.at(static_cast<size_t>(image));
  }

  std::vector<std::vector<std::byte>> records_;
};

// Reads every image once, appends its record, in order, and finishes the store. With `normalise`
// every descriptor is scaled to length one first; otherwise records have single precision. Returns
// the names of the images without descriptors, which have no record. Throws kInvalidArgument for a
// store of another dimension and, naming the image, for numbers that are not finite.
std::vector<std::string> ReduceImages(const FeatureSet& features, bool normalise,
                                      RecordStore& records, const RunContext& context);

// Calls body(image, record) for all images, in parallel.
template <class Body>
void ForEachRecord(const RecordStore& records, const RunContext& context, const Body& body) {
  constexpr size_t kImagesPerTask = 8;
  const auto count = static_cast<size_t>(records.size());
  Progress progress = context.StartProgress("pooling", "images", count);
  context.ParallelFor(count, kImagesPerTask, [&](size_t begin, size_t end) {
    for (auto image = static_cast<Index>(begin); image < static_cast<Index>(end); ++image) {
      body(image, records.Read(image));
    }
    progress.Advance(end - begin);
  });
}

// φ of every image, a column each.
MatrixF PoolRecords(const RecordStore& records, const PoolingSystem& system,
                    const RunContext& context);

}  // namespace bitpool
