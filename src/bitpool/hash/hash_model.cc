#include "bitpool/hash/hash_model.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/codes/sign_bits.h"
#include "bitpool/hash/shard_passes.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {
namespace {

constexpr size_t kModelColumns = 1024;

}  // namespace

std::string TrainingSummary::BriefReport() const {
  std::string report = fmt::format("{} samples, {:.2f} s", samples, seconds);
  if (!iterations.empty()) {
    const TrainingIteration& last = iterations.back();
    report += fmt::format(", {} iterations, objective {:.6g}, {:.2f} % of the bits changed last",
                          iterations.size(), last.objective, 100 * last.flipped);
  }
  if (converged) report += ", converged";
  if (interrupted) report += ", interrupted";
  return report;
}

MatrixF HashModel::Reconstruct(const BinaryCodes& codes) const {
  if (codes.bits() != bits()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("codes of {} bits for a model that has {} bits", codes.bits(), bits()));
  }
  MatrixF vectors = decoder.weights * SignsOf(codes, 0, codes.size());
  vectors.colwise() += decoder.bias;
  return vectors;
}

LinearMap FitDecoder(const HashEncoder& encoder, const ColumnSource& source,
                     const RunContext& context) {
  const BinaryCodes codes = EncodeAll(encoder, source, context);
  return SolveRidge(ComputeCrossMoments(CodeColumns(codes), source, context), 0);
}

double ReconstructionError(const HashModel& model, const ColumnSource& source,
                           const RunContext& context) {
  double sum = 0;
  context.pool().OrderedReduce(
      static_cast<size_t>(source.size()), kModelColumns, 0.0,
      [&](double& part, size_t begin, size_t end) {
        context.ThrowIfStopped();
        MatrixF buffer;
        const ColumnsView block =
            source.Read(static_cast<Index>(begin), static_cast<Index>(end - begin), buffer);
        const MatrixF rest = block - model.Reconstruct(model.encoder->Encode(block));
        part = rest.cast<double>().squaredNorm();
      },
      [&](double part) { sum += part; });
  return source.size() == 0 ? 0 : sum / static_cast<double>(source.size());
}

void RequireTakesVectors(const HashModel& model) {
  if (!model.pooling || model.pooling->gamma == 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a model of {} takes local features, not vectors: it pools them together "
                          "with the codes",
                          model.method));
}

void RequireTrainable(const Moments& moments) {
  if (moments.count() < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} training samples: expected at least 2", moments.count()));
  }
  // Single precision cannot tell a spread of less than this share of the mean from rounding.
  const double floor = 1e-12 * moments.mean().squaredNorm();
  if (!(moments.scatter().trace() / static_cast<double>(moments.count()) > floor)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the training samples are all alike: there is nothing to learn from");
  }
}

MatrixF SignsOf(const BinaryCodes& codes, Index first, Index count) {
  MatrixF signs(codes.bits(), count);
  UnpackSigns(codes.rows().data() + static_cast<size_t>(first) * codes.bytes_per_code(),
              codes.bits(), count, signs.data());
  return signs;
}

}  // namespace bitpool
