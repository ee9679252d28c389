#include "bitpool/hash/initial_codes.h"

#include "bitpool/hash/alternation_passes.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/shard_passes.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {
namespace {

constexpr const char* kPredicted = "predicted";

}  // namespace

void NoteItqCodes(Shards& shards, const std::string& columns, const std::string& codes,
                  const Moments& moments, int bits, const RunContext& context) {
  const RunContext quiet = context.WithoutProgress();
  TrainingSummary unused;
  EncodePass encode(FindItqEncoder({.bits = bits}, shards, columns, moments, quiet, unused),
                    columns, codes);
  context.ThrowIfStopped();
  RunSums<Sums>(shards, encode, {}, quiet);
}

void NoteCodesOfLabels(Shards& shards, const RelaxedAutoencoder::Names& names,
                       const Moments& moments, double ridge, int bits, const RunContext& context) {
  CrossMomentsPass cross(names.inputs, names.targets);
  MapPass predict(RidgeSolver(moments, ridge * static_cast<double>(shards.size()))
                      .Solve(RunSums(shards, cross, CrossMoments(), context).cross()),
                  names.inputs, kPredicted);
  RunSums<Sums>(shards, predict, {}, context);
  MomentsPass pass(kPredicted);
  NoteItqCodes(shards, kPredicted, names.codes, RunSums(shards, pass, Moments(), context), bits,
               context);
}

}  // namespace bitpool
