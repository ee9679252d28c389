#include "bitpool/guest/conversions.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

class Watcher : public ProgressSink {
 public:
  explicit Watcher(std::function<void(const ProgressUpdate&)> watch) : watch_(std::move(watch)) {}
  void Report(const ProgressUpdate& update) override { watch_(update); }

 private:
  std::function<void(const ProgressUpdate&)> watch_;
};

}  // namespace

RunContext ContextOf(const Run& run) {
  static const RunContext plain;
  const Run usual;
  if (run.threads == usual.threads && !run.progress && !run.stop.stop_possible()) {
    return plain.WithSeed(run.seed);
  }
  return RunContext({.threads = run.threads,
                     .seed = run.seed,
                     .stop = run.stop,
                     .progress = run.progress ? std::make_shared<Watcher>(run.progress) : nullptr});
}

ColumnsView ColumnsOf(const Vectors& vectors) {
  const auto dimension = static_cast<Index>(vectors.dimension());
  return {vectors.data(), dimension, static_cast<Index>(vectors.size()),
          Eigen::OuterStride<>(dimension)};
}

OwnedVectors VectorsOf(const MatrixF& columns) {
  return {{columns.data(), columns.data() + columns.size()}, static_cast<size_t>(columns.rows())};
}

BinaryCodes BinaryCodesOf(const Codes& codes) {
  return {codes.bits(), {codes.rows().begin(), codes.rows().end()}};
}

Codes CodesOf(BinaryCodes codes) {
  const int bits = codes.bits();
  return {bits, std::move(codes).TakeRows()};
}

inline namespace v0 {

Vectors::Vectors(std::span<const float> numbers, size_t dimension)
    : numbers_(numbers), dimension_(dimension) {
  if (dimension > 0 && numbers.size() % dimension == 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("vectors: {} numbers are not a whole number of vectors of dimension {}",
                          numbers.size(), dimension));
}

}  // namespace v0
}  // namespace bitpool
