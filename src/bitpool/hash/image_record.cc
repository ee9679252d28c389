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

// The bytes of a record: this, V1 as floats, then the matrix as halves relative to `scale`; of VVᵀ
// the lower triangle, column by column.
struct Header {
  int64_t descriptors = 0;
  int32_t has_gram = 0;
  float scale = 1;
};

size_t TriangleSize(Index dimension) {
  return static_cast<size_t>(dimension) * (static_cast<size_t>(dimension) + 1) / 2;
}

Header ReadHeader(std::span<const std::byte> bytes, Index dimension) {
  Header header;
  if (bytes.size() >= sizeof(header)) std::memcpy(&header, bytes.data(), sizeof(header));
  const auto halves = static_cast<int64_t>(bytes.size() / sizeof(uint16_t));
  // V itself has no more columns than there are numbers, so that nothing below can overflow.
  const bool fits = header.has_gram != 0 || header.descriptors <= halves;
  if (header.descriptors < 1 || !fits ||
      bytes.size() != ImageRecord::PackedBytes(
                          dimension, header.has_gram != 0 ? dimension + 1 : header.descriptors)) {
    throw Error(ErrorCode::kCorrupt, fmt::format("a record of {} bytes: not one of {} dimensions",
                                                 bytes.size(), dimension));
  }
  return header;
}

}  // namespace

ImageRecord ImageRecord::Reduce(const MatrixFRef& descriptors) {
  ImageRecord record;
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

size_t ImageRecord::PackedBytes(Index dimension, Index descriptors) {
  const size_t values = std::min(static_cast<size_t>(dimension) * static_cast<size_t>(descriptors),
                                 TriangleSize(dimension));
  return sizeof(Header) + sizeof(float) * static_cast<size_t>(dimension) +
         sizeof(uint16_t) * values;
}

std::vector<std::byte> ImageRecord::Pack() const {
  Header header{.descriptors = descriptors_, .has_gram = has_gram_ ? 1 : 0};
  const float largest = matrix_.cwiseAbs().maxCoeff();
  header.scale = largest > 0 ? largest : 1;
  const Index dimension = sum_.size();
  const size_t values = has_gram_ ? TriangleSize(dimension) : static_cast<size_t>(matrix_.size());
  std::vector<float> scaled(values);
  float* next = scaled.data();
  for (Index column = 0; column < matrix_.cols(); ++column) {
    const Index first = has_gram_ ? column : 0;
    const Index count = dimension - first;
    Eigen::Map<VectorF>(next, count) = matrix_.col(column).tail(count) / header.scale;
    next += count;
  }
  std::vector<uint16_t> halves(values);
  FloatToHalf(scaled, halves);

  const size_t sum_bytes = sizeof(float) * static_cast<size_t>(dimension);
  std::vector<std::byte> bytes(PackedBytes(dimension, descriptors_));
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), sum_.data(), sum_bytes);
  std::memcpy(bytes.data() + sizeof(header) + sum_bytes, halves.data(), 2 * values);
  return bytes;
}

ImageRecord ImageRecord::Unpack(std::span<const std::byte> bytes, Index dimension) {
  const Header header = ReadHeader(bytes, dimension);
  ImageRecord record;
  record.has_gram_ = header.has_gram != 0;
  record.descriptors_ = header.descriptors;
  record.sum_.resize(dimension);
  const size_t sum_bytes = sizeof(float) * static_cast<size_t>(dimension);
  std::memcpy(record.sum_.data(), bytes.data() + sizeof(header), sum_bytes);
  const std::span<const std::byte> packed = bytes.subspan(sizeof(header) + sum_bytes);
  const std::span halves(reinterpret_cast<const uint16_t*>(packed.data()), packed.size() / 2);
  record.matrix_.setZero(dimension, record.has_gram_ ? dimension : header.descriptors);
  const uint16_t* next = halves.data();
  for (Index column = 0; column < record.matrix_.cols(); ++column) {
    const Index first = record.has_gram_ ? column : 0;
    const auto count = static_cast<size_t>(dimension - first);
    HalfToFloat({next, count}, {record.matrix_.col(column).data() + first, count});
    next += count;
  }
  record.matrix_ *= header.scale;
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
    return ImageRecord::Reduce(descriptors).Pack();
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
