#include "bitpool/hash/view_whitening.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/hash/mapped_encoder.h"
#include "bitpool/hash/two_layer_encoder.h"
#include "bitpool/hash/view_batches.h"
#include "bitpool/hash/view_columns.h"

namespace bitpool {
namespace {

// The variance within pictures against that of all images below which it is rounding.
constexpr double kNothing = 1e-5;

}  // namespace

void WhiteningOptions::Validate() const {
  if (!(epsilon > 0) || !std::isfinite(epsilon)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("epsilon of the whitening: expected above 0, got {}", epsilon));
  }
}

ViewWhitening FindWhitening(const WhiteningOptions& options, const Moments& images,
                            const Moments& means, Index per_picture) {
  options.Validate();
  RequireViews(images.count(), per_picture);
  const Index dimension = images.dimension();
  const auto each = static_cast<double>(per_picture);
  MatrixD within =
      (images.scatter() - each * means.scatter()) / static_cast<double>(images.count());
  const double total = images.Covariance().trace();
  if (!(within.trace() > kNothing * total)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the views of no picture differ from it: there is nothing to learn from them");
  }
  within.diagonal().array() += options.epsilon * within.trace() / static_cast<double>(dimension);
  const Eigen::LLT<MatrixD> factor(within);
  if (factor.info() != Eigen::Success) {
    throw Error(ErrorCode::kInvalidArgument,
                "the differences of views cannot be told from rounding: choose a larger epsilon");
  }
  const MatrixD lower = factor.matrixL();
  const MatrixD inverse = factor.matrixL().solve(MatrixD::Identity(dimension, dimension));
  return {.forward = {.weights = inverse.cast<float>(),
                      .bias = (-(inverse * images.mean())).cast<float>()},
          .back = {.weights = lower.cast<float>(), .bias = images.mean().cast<float>()}};
}

ViewWhitening LearnWhitening(const WhiteningOptions& options, const ViewVectors& images,
                             const RunContext& context) {
  options.Validate();
  RequireViews(images.vectors.size(), images.per_picture);
  const Moments all = ComputeMoments(images.vectors, context);
  const Moments means = ComputeMoments(PictureMeans(images), context);
  return FindWhitening(options, all, means, images.per_picture);
}

HashModel FoldWhitening(const ViewWhitening& whitening, HashModel model) {
  if (const auto* linear = dynamic_cast<const LinearEncoder*>(model.encoder.get())) {
    model.encoder = std::make_shared<LinearEncoder>(Compose(whitening.forward, linear->map()));
  } else if (const auto* layers = dynamic_cast<const TwoLayerEncoder*>(model.encoder.get())) {
    TwoLayerMap map = layers->map();
    map.linear = Compose(whitening.forward, map.linear);
    map.hidden = Compose(whitening.forward, map.hidden);
    model.encoder = std::make_shared<TwoLayerEncoder>(std::move(map));
  } else {
    model.encoder = std::make_shared<MappedEncoder>(whitening.forward, model.encoder);
  }
  model.decoder = Compose(model.decoder, whitening.back);
  return model;
}

}  // namespace bitpool
