// The solver that the tests of bit_svms.h compare ours with.
#include <linear.h>

#include <new>
#include <vector>

#include "bitpool/hash/baselines/liblinear_testing.h"

namespace bitpool {
namespace {

struct ModelDeleter {
  void operator()(model* trained) const { free_and_destroy_model(&trained); }
};

// liblinear prints by default, through a function that the whole process shares.
void SilenceOnce() {
  [[maybe_unused]] static const bool silent = [] {
    set_print_string_function([](const char*) {});
    return true;
  }();
}

class LiblinearSvms : public BitSvms {
 public:
  LiblinearSvms(const BitSvmOptions& options, const MatrixF& samples) : options_(options) {
    SilenceOnce();
    const auto dimension = static_cast<int>(samples.rows());
    nodes_.reserve(static_cast<size_t>(samples.cols() * (samples.rows() + 2)));
    rows_.reserve(static_cast<size_t>(samples.cols()));
    for (Index sample = 0; sample < samples.cols(); ++sample) {
      rows_.push_back(nodes_.data() + nodes_.size());  // reserved, so it stays there
      for (int i = 0; i < dimension; ++i) {
        nodes_.push_back({.index = i + 1, .value = static_cast<double>(samples(i, sample))});
      }
      nodes_.push_back({.index = dimension + 1, .value = 1});
      nodes_.push_back({.index = -1, .value = 0});
    }
  }

 private:
  void Solve(const MatrixF& targets, const std::vector<Index>& bits, MatrixD& weights,
             const RunContext& context) const override {
    context.ParallelFor(bits.size(), 1, [&](size_t i, size_t /*end*/) {
      VectorD labels = targets.col(bits[i]).cast<double>();
      weights.col(bits[i]) = SolveOne(labels, weights.col(bits[i]));
    });
  }

  VectorD SolveOne(VectorD& labels, VectorD start) const {
    const problem task = {.l = static_cast<int>(labels.size()),
                          .n = static_cast<int>(start.size()),
                          .y = labels.data(),
                          .x = const_cast<feature_node**>(rows_.data()),
                          .bias = 1};
    parameter settings = {};
    settings.solver_type = L2R_L2LOSS_SVC;
    settings.C = options_.cost;
    settings.eps = options_.tolerance;
    settings.init_sol = start.data();
    const std::unique_ptr<model, ModelDeleter> trained(train(&task, &settings));
    if (!trained || trained->w == nullptr) throw std::bad_alloc();
    return Eigen::Map<const VectorD>(trained->w, start.size());  // of the class +1
  }

  BitSvmOptions options_;
  std::vector<feature_node> nodes_;  // one array for all bits
  std::vector<feature_node*> rows_;  // where each sample starts
};

}  // namespace

std::unique_ptr<BitSvms> MakeLiblinearSvms(const BitSvmOptions& options, const MatrixF& samples) {
  return std::make_unique<LiblinearSvms>(options, samples);
}

}  // namespace bitpool
