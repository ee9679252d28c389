#pragma once

#include <cstddef>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/kernel_encoder.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// The defaults are the settings of the authors' program, but for the width of the kernel
// (DrawKernel).
struct SupervisedDiscreteHashOptions {
  int bits = 32;                             // L
  KernelOptions kernel = {.anchors = 1000};  // φ
  int iterations = 5;                        // of the three steps, at most
  int sweeps = 10;                           // over the bits of a code in a B-step, at most
  double label_ridge = 1;                    // λ, against sums over the samples
  double encoder_ridge = 1e-2;               // of the regression of the codes on φ, likewise
  double encoder_weight = 1e-5;              // ν
  // φ of all samples is kept in memory if it is not larger than this, and otherwise made again in
  // every pass.
  size_t memory = size_t{512} << 20;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Supervised discrete hashing (Shen, Shen, Liu and Tao Shen, CVPR 2015) with the L2 loss:
//   min over B, W, P of ‖Y − WᵀB‖² + λ‖W‖² + ν‖B − Pφ(X)‖²,  B in {−1, 1},
// with the labels Y (LabelTargets) and the kernel features φ. Beginning with random codes, it finds
// in turn W and P for the codes (ridge regressions) and the codes for W and P (discrete cyclic
// coordinate descent).
//
// As the authors' program does, the regression of the codes on φ has a ridge and a bias, though the
// formula has none; here the bias has no ridge. Directions of φ that single precision cannot tell
// from none get weight zero (RidgeSolver).
//
// An iteration's objective is the formula per sample, at the codes it found and the W and P it
// found them with; it may rise, since the codes are found starting from zero each time.
// `quantisation` is ‖B − Pφ(X)‖² per sample. Keeps four bytes per bit and sample besides φ. Throws
// kInvalidArgument for data that RequireTrainable or LabelTargets refuses. method "sdh".
Trained<HashModel> TrainSupervisedDiscreteHash(const SupervisedDiscreteHashOptions& options,
                                               const ColumnSource& vectors, const Labels& labels,
                                               const RunContext& context);

// The B-step for a sample: discrete cyclic coordinate descent on ‖Wᵀb‖² − 2bᵀq, which is the
// objective of the sample but for a constant when q = Wy + νPφ(x). Never changes and may be used
// from many threads.
class DiscreteCodeSolver {
 public:
  // W is bits × classes.
  DiscreteCodeSolver(const MatrixF& weights, int sweeps);

  // Starts with b = 0, as the authors do: samples of a class then get the same code unless their
  // Pφ(x) say otherwise. Each step sets a bit to its best value given the others, and costs
  // something only when that changes it. `q` becomes the gradient's part q − (WWᵀ − diag) b.
  void Solve(Eigen::Ref<VectorF> q, Eigen::Ref<VectorF> b) const;

  double trace() const { return trace_; }  // of WWᵀ

 private:
  MatrixF products_;  // WWᵀ with zeros on the diagonal
  double trace_;
  int sweeps_;
};

// Codes to start from: ±1 by the bits of a random generator, column by column.
MatrixF RandomSigns(Index bits, Index count, Random random);

}  // namespace bitpool
