// Times of the triangulation embedding on one thread, with the sizes of SIFT and the paper: 128
// dimensions, 9 anchors, 1024 dimensions out. Apply has a target: at most 2.5 times the bare matrix
// product, which is the counter "ratio" of BM_Apply.

#include <benchmark/benchmark.h>
#include <cblas.h>

#include "bitpool/base/random.h"
#include "bitpool/base/run_context.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/embed/triangulation_embedding.h"

namespace bitpool {
namespace {

constexpr Index kInput = 128, kAnchors = 9, kOutput = 1024;

// Numbers in [0, 1), as descriptors have.
MatrixF MakeData(Index rows, Index cols, uint64_t seed) {
  Random random(seed);
  MatrixF data(rows, cols);
  for (Index i = 0; i < data.size(); ++i) data.data()[i] = static_cast<float>(random.Uniform());
  return data;
}

TriangulationEmbedding MakeEmbedding(double power) {
  return TriangulationEmbedding({.anchors = MakeData(kInput, kAnchors, 1),
                                 .mean = MakeData(kInput * kAnchors, 1, 2),
                                 .projection = MakeData(kOutput, kInput * kAnchors, 3),
                                 .power = power,
                                 .normalise = false});
}

void MultiplyBare(const MatrixF& projection, const MatrixF& residuals, MatrixF& embedded) {
  const auto rows = static_cast<int>(projection.rows());
  const auto depth = static_cast<int>(projection.cols());
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, static_cast<int>(residuals.cols()),
              depth, 1.0F, projection.data(), rows, residuals.data(), depth, 0.0F, embedded.data(),
              rows);
  benchmark::DoNotOptimize(embedded.data());
}

void BM_BareProduct(benchmark::State& state) {
  const RunContext one_blas_thread({.threads = 1});
  const MatrixF projection = MakeData(kOutput, kInput * kAnchors, 3);
  const MatrixF residuals = MakeData(kInput * kAnchors, state.range(0), 4);
  MatrixF embedded(kOutput, state.range(0));
  for (auto _ : state) MultiplyBare(projection, residuals, embedded);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_BareProduct)
    ->Arg(100)
    ->Arg(1000)
    ->ArgName("descriptors")
    ->Unit(benchmark::kMicrosecond);

// Apply and the bare product in turn, so that both meet the same machine.
void BM_Apply(benchmark::State& state) {
  const RunContext one_blas_thread({.threads = 1});
  const TriangulationEmbedding embedding =
      MakeEmbedding(static_cast<double>(state.range(1)) / 100.0);
  const MatrixF descriptors = MakeData(kInput, state.range(0), 5);
  const MatrixF residuals = MakeData(kInput * kAnchors, state.range(0), 4);
  MatrixF embedded(kOutput, state.range(0));
  double bare = 0, ours = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Stopwatch bare_watch;
    MultiplyBare(embedding.parts().projection, residuals, embedded);
    bare += bare_watch.seconds();
    state.ResumeTiming();
    const Stopwatch watch;
    benchmark::DoNotOptimize(embedding.Apply(descriptors).data());
    ours += watch.seconds();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["ratio"] = ours / bare;
}
BENCHMARK(BM_Apply)
    ->ArgsProduct({{100, 1000, 10000}, {100}})
    ->Args({1000, 50})
    ->Args({1000, 70})
    ->ArgNames({"descriptors", "power%"})
    ->Unit(benchmark::kMicrosecond);

void BM_Train(benchmark::State& state) {
  const MatrixF data = MakeData(kInput, 20000, 6);
  const MatrixColumns source(data);
  const RunContext context({.threads = 1});
  for (auto _ : state) {
    benchmark::DoNotOptimize(TrainTriangulation({}, source, context).model.dimension());
  }
}
BENCHMARK(BM_Train)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bitpool

BENCHMARK_MAIN();
