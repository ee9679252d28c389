#include "bitpool/hash/baselines/column_sample.h"

#include <algorithm>

namespace bitpool {
namespace {

constexpr Index kMemory = Index{512} << 20;  // bytes

}  // namespace

ColumnSample::ColumnSample(const ColumnSource& source, Index count, Random random)
    : source_(source), size_(std::min(count, source.size())) {
  if (size_ == source.size()) return;
  const std::vector<uint64_t> sample =
      random.Sample(static_cast<uint64_t>(source.size()), static_cast<uint64_t>(size_));
  chosen_.assign(sample.begin(), sample.end());
  std::sort(chosen_.begin(), chosen_.end());  // files are read forward
}

ColumnsView ColumnSample::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  if (chosen_.empty()) return source_.Read(first, count, buffer);
  const auto begin = chosen_.begin() + first;
  buffer = GatherColumns(source_, std::vector<Index>(begin, begin + count));
  return ViewOf(buffer);
}

Index SamplesInMemory(Index wanted, Index available, Index bytes_per_sample) {
  const Index most = std::min(available, kMemory / bytes_per_sample);
  return wanted == 0 ? most : std::min(wanted, most);
}

}  // namespace bitpool
