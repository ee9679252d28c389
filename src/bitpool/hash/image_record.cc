#include "bitpool/hash/image_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bitpool/base/error.h"
#include "bitpool/base/half.h"
#include "bitpool/pool/simple_pooling.h"

namespace bitpool {
namespace {

// Images that are reduced before their records are stored, in order.
constexpr Index kWave = 64;

// The bytes of a record: this, V1 as floats, then the matrix as floats, or as halves relative to
// `scale`; of VVᵀ the lower triangle, column by column.
struct Header {
  int64_t descriptors = 0;
  int16_t has_gram = 0;
  int16_t is_single = 0;
  float scale = 1;

  RecordPrecision precision() const {
    return is_single != 0 ? RecordPrecision::kSingle : RecordPrecision::kHalf;
  }
};

size_t BytesPerNumber(RecordPrecision precision) {
  return precision == RecordPrecision::kSingle ? sizeof(float) : sizeof(uint16_t);
}

size_t TriangleSize(Index dimension) {
  return static_cast<size_t>(dimension) * (static_cast<size_t>(dimension) + 1) / 2;
}

Header ReadHeader(std::span<const std::byte> bytes, Index dimension) {
  Header header;
  if (bytes.size() >= sizeof(header)) std::memcpy(&header, bytes.data(), sizeof(header));
  const auto halves = static_cast<int64_t>(bytes.size() / sizeof(uint16_t));
  // V itself has no more columns than there are numbers, so that nothing below can overflow.
  const bool fits = header.has_gram != 0 || header.descriptors <= halves;
  const Index columns = header.has_gram != 0 ? dimension + 1 : header.descriptors;
  if (header.descriptors < 1 || !fits ||
      bytes.size() != ImageRecord::PackedBytes(dimension, columns, header.precision())) {
    throw Error(ErrorCode::kCorrupt, fmt::format("a record of {} bytes: not one of {} dimensions",
                                                 bytes.size(), dimension));
  }
  return header;
}

}  // namespace

ImageRecord ImageRecord::Reduce(const MatrixFRef& descriptors, RecordPrecision precision) {
  ImageRecord record;
  record.precision_ = precision;
  record.descriptors_ = descriptors.cols();
  record.has_gram_ = static_cast<size_t>(descriptors.size()) > TriangleSize(descriptors.rows());
  if (record.has_gram_) {
    PooledStatistics statistics = ComputeStatistics(descriptors);
    record.matrix_ = std::move(statistics.gram);
    record.sum_ = std::move(statistics.sum);
  } else {
    record.sum_ = SumPooling(descriptors);  // which checks them
    record.matrix_ = descriptors;
  }
  if (!record.matrix_.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "descriptors: the values are too large to be squared");
  }
  return record;
}

VectorF ImageRecord::Solve(const PoolingSystem& system, const PoolingHints& hints) const {
  return has_gram_ ? system.SolveFromGram(matrix_, sum_, hints).vector
                   : system.Solve(matrix_, hints).vector;
}

double ImageRecord::Inequality(const VectorFRef& vector) const {
  if (!has_gram_) {
    return ((matrix_.transpose() * vector).array() - 1.0F).matrix().cast<double>().squaredNorm();
  }
  // φᵀVVᵀφ − 2φᵀV1 + n
  const VectorF product = matrix_.selfadjointView<Eigen::Lower>() * vector;
  const double squares = product.cast<double>().dot(vector.cast<double>()) -
                         2 * sum_.cast<double>().dot(vector.cast<double>()) +
                         static_cast<double>(descriptors_);
  return std::max(0.0, squares);  // anything below zero is rounding
}

size_t ImageRecord::PackedBytes(Index dimension, Index descriptors, RecordPrecision precision) {
  const size_t values = std::min(static_cast<size_t>(dimension) * static_cast<size_t>(descriptors),
                                 TriangleSize(dimension));
  return sizeof(Header) + sizeof(float) * static_cast<size_t>(dimension) +
         BytesPerNumber(precision) * values;
}

std::vector<std::byte> ImageRecord::Pack() const {
  const bool single = precision_ == RecordPrecision::kSingle;
  Header header{.descriptors = descriptors_,
                .has_gram = static_cast<int16_t>(has_gram_),
                .is_single = static_cast<int16_t>(single)};
  const float largest = matrix_.cwiseAbs().maxCoeff();
  if (!single && largest > 0) header.scale = largest;
  const Index dimension = sum_.size();
  std::vector<float> scaled(has_gram_ ? TriangleSize(dimension)
                                      : static_cast<size_t>(matrix_.size()));
  float* next = scaled.data();
  for (Index column = 0; column < matrix_.cols(); ++column) {
    const Index first = has_gram_ ? column : 0;
    const Index count = dimension - first;
    Eigen::Map<VectorF>(next, count) = matrix_.col(column).tail(count) / header.scale;
    next += count;
  }

  std::vector<std::byte> bytes(PackedBytes(dimension, descriptors_, precision_));
  std::byte* out = bytes.data();
  const auto append = [&out](const auto* values, size_t count) {
    std::memcpy(out, values, count * sizeof(*values));
    out += count * sizeof(*values);
  };
  append(&header, 1);
  append(sum_.data(), static_cast<size_t>(dimension));
  if (single) {
    append(scaled.data(), scaled.size());
  } else {
    std::vector<uint16_t> halves(scaled.size());
    FloatToHalf(scaled, halves);
    append(halves.data(), halves.size());
  }
  return bytes;
}

ImageRecord ImageRecord::Unpack(std::span<const std::byte> bytes, Index dimension) {
  const Header header = ReadHeader(bytes, dimension);
  ImageRecord record;
  record.precision_ = header.precision();
  record.has_gram_ = header.has_gram != 0;
  record.descriptors_ = header.descriptors;
  record.sum_.resize(dimension);
  const size_t sum_bytes = sizeof(float) * static_cast<size_t>(dimension);
  std::memcpy(record.sum_.data(), bytes.data() + sizeof(header), sum_bytes);
  const std::byte* next = bytes.data() + sizeof(header) + sum_bytes;
  record.matrix_.setZero(dimension, record.has_gram_ ? dimension : header.descriptors);
  for (Index column = 0; column < record.matrix_.cols(); ++column) {
    const Index first = record.has_gram_ ? column : 0;
    const auto count = static_cast<size_t>(dimension - first);
    float* values = record.matrix_.col(column).data() + first;
    if (record.precision_ == RecordPrecision::kSingle) {
      std::memcpy(values, next, count * sizeof(float));
    } else {
      HalfToFloat({reinterpret_cast<const uint16_t*>(next), count}, {values, count});
    }
    next += count * BytesPerNumber(record.precision_);
  }
  if (record.precision_ == RecordPrecision::kHalf) record.matrix_ *= header.scale;
  return record;
}

ImageRecord RecordStore::Read(Index image) const {
  std::vector<std::byte> buffer;
  return ImageRecord::Unpack(ReadBytes(image, buffer), dimension_);
}

namespace {

std::vector<std::byte> ReduceImage(const FeatureSet& features, Index image, bool normalise) {
  MatrixF descriptors;
  features.Read(image, descriptors);
  if (descriptors.cols() == 0) return {};
  return InContext(features.name(image), [&] {
    if (normalise) NormaliseColumns(descriptors);
    return ImageRecord::Reduce(descriptors, PrecisionFor(normalise)).Pack();
  });
}

}  // namespace

std::vector<std::string> ReduceImages(const FeatureSet& features, bool normalise,
                                      RecordStore& records, const RunContext& context) {
  if (features.dimension() != records.dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("local features of dimension {}; expected {}", features.dimension(),
                            records.dimension()));
  }
  std::vector<std::string> skipped;
  Progress progress =
      context.StartProgress("reducing", "images", static_cast<uint64_t>(features.size()));
  for (Index first = 0; first < features.size(); first += kWave) {
    const Index count = std::min(kWave, features.size() - first);
    std::vector<std::vector<std::byte>> packed(static_cast<size_t>(count));
    context.ParallelFor(packed.size(), 1, [&](size_t i, size_t /*end*/) {
      packed[i] = ReduceImage(features, first + static_cast<Index>(i), normalise);
      progress.Advance();
    });
    for (Index i = 0; i < count; ++i) {
      std::vector<std::byte>& record = packed[static_cast<size_t>(i)];
      if (record.empty()) {
        skipped.push_back(features.name(first + i));
      } else {
        records.Append(std::move(record));
      }
    }
  }
  records.Finish();
  return skipped;
}

MatrixF PoolRecords(const RecordStore& records, const PoolingSystem& system,
                    const RunContext& context) {
  MatrixF vectors(records.dimension(), records.size());
  ForEachRecord(records, context, [&](Index image, const ImageRecord& record) {
    vectors.col(image) = record.Solve(system, {});
  });
  return vectors;
}

}  // namespace bitpool
