#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/hash/baselines/anchor_graph.h"

namespace bitpool {

// n is the number of samples. SADH's authors take ρ₃ = ρ₄ = 10⁻³ for 59,000 samples, which is 59
// here; see docs/deep.md.
struct GraphCodeOptions {
  double box = 1e-2;          // ρ₁, of numbers between −1 and 1
  double sphere = 1e-2;       // ρ₂, of numbers whose squares add up to their count
  double balance = 0.3;       // nρ₃, of bits that are 1 half of the time
  double independence = 0.3;  // nρ₄, of bits that do not depend on each other
  int steps = 50;             // at most
  double tolerance = 1e-4;    // stop when both constraints hold to within this share

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Codes B in {−1, 1}, a column per sample, that are alike for samples a graph says are alike:
//   min f(B) = tr(B(I − S)Bᵀ) + ρ₃/2 ‖B1‖² + ρ₄/4 ‖BBᵀ − nI‖².
// The first term grows with n and the others with n², so it is nρ₃ and nρ₄ that weigh the same
// however many samples there are. All numbers are −1 or 1 when they lie in the box and on the
// sphere (Wu and Ghanem, TPAMI 2019), so with Z₁ in the box, Z₂ on the sphere and multipliers Y the
// augmented Lagrangian is
//   f(B) + Σ_k ⟨Y_k, B − Z_k⟩ + ρ_k/2 ‖B − Z_k‖²,
// of which one part after the other is improved (ADMM). No step but that of the multipliers raises
// it.
class GraphCodeSolver {
 public:
  // The graph must outlive this.
  GraphCodeSolver(const GraphCodeOptions& options, const AnchorGraph& graph, MatrixD start,
                  const RunContext& context);

  // One step of all parts; returns false when the constraints hold.
  bool Step();

  // The parts of a step.
  void ImproveCodes();   // B, by some steps of conjugate gradients
  void ImproveBox();     // Z₁
  void ImproveSphere();  // Z₂
  void UpdateMultipliers();

  const MatrixD& codes() const { return b_; }  // B, real numbers still
  double Objective() const;                    // f
  double Lagrangian() const;
  double Violation() const;  // the larger ‖B − Z_k‖ as a share of ‖B‖

 private:
  // The Lagrangian along a line, as a polynomial of degree four without its constant.
  struct LinePolynomial {
    double c1 = 0, c2 = 0, c3 = 0, c4 = 0;
    double Value(double t) const { return t * (c1 + t * (c2 + t * (c3 + t * c4))); }
    double Slope(double t) const { return c1 + t * (2 * c2 + t * (3 * c3 + t * 4 * c4)); }
    double FindMinimum() const;  // zero where there is none above zero
  };

  MatrixD Gradient() const;
  LinePolynomial Along(const MatrixD& direction, const MatrixD& laplacian) const;
  MatrixD Product(const MatrixD& a, const MatrixD& b) const;  // abᵀ, in parallel
  MatrixD Correlation() const;                                // BBᵀ − nI

  GraphCodeOptions options_;
  double balance_, independence_;  // ρ₃, ρ₄
  const AnchorGraph& graph_;
  RunContext context_;
  MatrixD b_;
  MatrixD laplacian_;         // B(I − S)
  MatrixD box_, sphere_;      // Z
  MatrixD box_y_, sphere_y_;  // Y
};

}  // namespace bitpool
