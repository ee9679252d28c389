#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/hash/rba.h"
#include "bitpool/hash/view_whitening.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/ridge.h"
#include "bitpool/linalg/shards.h"

namespace bitpool {

// Options of the loop that SAH and SASH share.
struct SahOptions {
  int bits = 32;                   // L
  int iterations = 4;              // T of alg2, at most
  RbaConstants rba = {};           // λ, β, T₁ and the scale of the constants
  double gamma = 10;               // γ, the weight of the aggregation against the reconstruction
  double mu = PoolingRecipe().mu;  // μ, how much a large φ costs
  bool normalise = true;           // scale every local feature to length one first
  double tolerance = 1e-3;         // relative residual of the pooling systems while training
  double min_flipped = 1e-3;  // stop when new vectors change no more than this share of the bits
  // Where there are labels: the first codes are those that ITQ makes of the labels as a ridge
  // regression predicts them from Φ⁰. alg1 takes ITQ's codes of Φ⁰ itself, which know nothing of
  // the classes; bits that can be predicted from the vectors and that tell the classes apart are
  // then hard to find.
  bool codes_from_labels = false;

  // The paper's values: λ = 0.01, β = 0.1, γ = 10, μ = 100, in the paper's own scale.
  static SahOptions Paper(int bits);

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Where a training stands after an iteration: all that the next one needs, besides the records.
struct JointState {
  std::vector<TrainingIteration> iterations;
  MatrixF vectors;       // Φ
  BinaryCodes codes{1};  // B
  LinearMap encoder, decoder;
  double gamma = 0;  // γ of the coupled system, in the units of the vectors
};

// Called after every iteration, for example to write a checkpoint.
using JointObserver = std::function<void(const JointState&)>;

struct JointRun {
  std::optional<JointState> resume = {};  // the state to continue from
  JointObserver observer = {};
};

// The loop of alg2 and alg3: Φ⁰ by generalised max pooling, then iterations that learn the hash
// functions from Φ (the relaxed autoencoder, from the codes of the previous iteration) and Φ from
// the hash functions, starting from the previous Φ.
//
// Without labels the codes are to reconstruct Φ (SAH); Φ follows from eq:sol_pool. With labels, a
// column of `labels` per image, they are to reconstruct the labels (SASH, eq:obj_ori_join_sup), and
// Φ follows from eq:sol_pool_sup.
//
// The objective of an iteration's record is twice that of eq:obj_ori_join (or eq:obj_ori_join_sup)
// with the binary constraint relaxed as in eq:obj_2, per image and in the scale of the constants:
// reconstruction + λ quantisation + regularisation + γ aggregation. The terms of the hash functions
// are those at the Φ they were learned from, while the aggregation is that of the Φ learned from
// them; the sum may therefore rise, though every step lowers what it minimises.
//
// An interruption after the first iteration leaves the state found by then. Fills in all of the
// summary but what was skipped. Throws kInvalidArgument when the state to resume is of other images
// or of another number of bits.
//
// With a whitening by views the hash functions learn from whitened vectors, and reconstructions are
// measured in its metric; the maps of the state are still those of the vectors themselves.
JointState Alternate(const SahOptions& options, const RecordStore& records,
                     const ColumnSource* labels, const RunContext& context, JointRun run,
                     TrainingSummary& summary, const ViewWhitening* whitening = nullptr);

// Some of the images, by their records, which must outlive this.
class ImageShard : public Shard {
 public:
  // Throws kInvalidArgument for another number of records.
  ImageShard(ShardPlace place, const RecordStore& records);
  const RecordStore& records() const { return records_; }

 private:
  const RecordStore& records_;
};

// The same for images in shards, each an ImageShard: vectors and codes stay with the shards and are
// empty in the states. `labels` is the name of the columns that the shards were given, empty where
// there are none.
JointState Alternate(const SahOptions& options, Shards& shards, const std::string& labels,
                     const RunContext& context, JointRun run, TrainingSummary& summary,
                     const ViewWhitening* whitening = nullptr);

// The name under which a shard has its vectors Φ after this many iterations. Those of the previous
// iteration are still there, under another name.
std::string VectorsAfter(size_t iterations);

// Has every shard note Φ⁰, the vectors that the loop begins with, under a name.
void PoolInitialVectors(const SahOptions& options, Shards& shards, const std::string& name,
                        const RunContext& context);

// Φ⁰ of all images.
MatrixF InitialVectors(const SahOptions& options, const RecordStore& records,
                       const RunContext& context);

}  // namespace bitpool
