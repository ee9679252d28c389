#include "bitpool/hash/rba.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/base/stopwatch.h"

namespace bitpool {
RbaConstants RbaConstants::Paper() {
  return {.iterations = 10,
          .lambda = 0.01,
          .beta = 1,
          .scale = ConstantScale::kLiteral,
          .min_flipped = 0};
}

RbaOptions RbaOptions::Paper(int bits) {
  RbaOptions options;
  static_cast<RbaConstants&>(options) = RbaConstants::Paper();
  options.bits = bits;
  return options;
}

void RbaOptions::Validate() const {
  RequireBits(bits);
  RbaConstants::Validate();
}

void RbaConstants::Validate() const {
  RequirePositive(lambda, "lambda of RBA");
  RequirePositive(beta, "beta of RBA");
  if (iterations < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("iterations of RBA: expected 1 or more, got {}", iterations));
  }
  if (!(min_flipped >= 0 && min_flipped <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("share of flipped bits: expected 0 to 1, got {}", min_flipped));
  }
}

AutoencoderWeights WeightsFor(const RbaConstants& constants, int bits, double total_variance,
                              Index samples) {
  if (constants.scale == ConstantScale::kLiteral) {
    const auto m = static_cast<double>(samples);
    return {.quantisation = constants.lambda,
            .encoder_ridge = constants.beta / (constants.lambda * m),
            .decoder_ridge = constants.beta / m};
  }
  // Multiplying the data by s divides what quantisation and encoder ridge are worth by s²; instead
  // of the data we multiply them, by 1/s² = variance per bit.
  const double variance_per_bit = total_variance / bits;
  return {.quantisation = constants.lambda * variance_per_bit,
          .encoder_ridge = constants.beta / constants.lambda * variance_per_bit,
          .decoder_ridge = constants.beta};
}

Trained<HashModel> TrainRba(const RbaOptions& options, Shards& shards, const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  MomentsPass pass;
  const Moments moments = RunSums(shards, pass, Moments(), context);
  RequireTrainable(moments);
  TrainingSummary of_itq;
  const LinearMap initial =
      FindItqEncoder({.bits = options.bits}, shards, kInputs, moments, context, of_itq);
  if (of_itq.interrupted) context.ThrowIfStopped();
  RelaxedAutoencoder autoencoder(
      WeightsFor(options, options.bits, moments.Covariance().trace(), shards.size()), shards, {},
      moments, options.bits, &initial, context);

  TrainingSummary summary{.samples = shards.size()};
  Progress progress =
      context.StartProgress("RBA", "iterations", static_cast<uint64_t>(options.iterations));
  for (int i = 0; i < options.iterations && !summary.converged; ++i) {
    try {
      summary.iterations.push_back(autoencoder.Iterate(context));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || i == 0) throw;
      summary.interrupted = true;
      break;
    }
    progress.Advance();
    summary.converged = summary.iterations.back().flipped <= options.min_flipped;
  }
  HashModel model{.method = "rba",
                  .encoder = std::make_shared<LinearEncoder>(autoencoder.Encoder()),
                  .decoder = autoencoder.Decoder()};
  summary.seconds = watch.seconds();
  return {.model = std::move(model), .summary = std::move(summary)};
}

Trained<HashModel> TrainRba(const RbaOptions& options, const ColumnSource& source,
                            const RunContext& context) {
  Shard shard(source);
  LocalShards shards({&shard});
  return TrainRba(options, shards, context);
}

}  // namespace bitpool
