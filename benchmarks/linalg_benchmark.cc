// Times of the linear algebra room on one thread. Moments have a target: BM_Moments at most 1.3
// times BM_BareSyrk.

#include <benchmark/benchmark.h>
#include <cblas.h>

#include "bitpool/base/random.h"
#include "bitpool/base/run_context.h"
#include "bitpool/linalg/kmeans.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/pca.h"
#include "bitpool/linalg/procrustes.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {
namespace {

constexpr Index kDimension = 512;
constexpr Index kSamples = 100000;

const RunContext& OneThread() {
  static const RunContext context({.threads = 1});
  return context;
}

// Uniform in [-1, 1): normal numbers would take longer to draw than all benchmarks together.
MatrixF MakeData(Index rows, Index cols, uint64_t seed) {
  Random random(seed);
  MatrixF data(rows, cols);
  for (Index i = 0; i < data.size(); ++i) {
    data.data()[i] = static_cast<float>(static_cast<int64_t>(random.Next())) * 0x1p-63F;
  }
  return data;
}

const MatrixF& Samples() {
  static const MatrixF data = MakeData(kDimension, kSamples, 1);
  return data;
}

void BM_BareSyrk(benchmark::State& state) {
  const MatrixF& data = Samples();
  (void)OneThread();
  MatrixF scatter(kDimension, kDimension);
  for (auto _ : state) {
    cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, kDimension, kSamples, 1.0F, data.data(),
                kDimension, 0.0F, scatter.data(), kDimension);
    benchmark::DoNotOptimize(scatter.data());
  }
}
BENCHMARK(BM_BareSyrk)->Unit(benchmark::kMillisecond);

void BM_Moments(benchmark::State& state) {
  const MatrixColumns source(Samples());
  const RunContext context({.threads = static_cast<int>(state.range(0))});
  for (auto _ : state) benchmark::DoNotOptimize(ComputeMoments(source, context).scatter().data());
}
BENCHMARK(BM_Moments)
    ->Arg(1)
    ->Arg(2)
    ->ArgName("threads")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void BM_CrossScatter(benchmark::State& state) {
  static const MatrixF targets = MakeData(64, kSamples, 2);
  const MatrixColumns inputs(Samples());
  const MatrixColumns source(targets);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ComputeCrossScatter(inputs, source, OneThread()).scatter().data());
  }
}
BENCHMARK(BM_CrossScatter)->Unit(benchmark::kMillisecond);

void BM_Ridge(benchmark::State& state) {
  CrossMoments moments(kDimension, 64);
  moments.Add(Samples().leftCols(4000), MakeData(64, 4000, 3));
  for (auto _ : state) benchmark::DoNotOptimize(SolveRidge(moments, 10.0).bias.data());
}
BENCHMARK(BM_Ridge)->Unit(benchmark::kMillisecond);

void BM_Pca(benchmark::State& state) {
  Moments moments(kDimension);
  moments.Add(Samples().leftCols(4000));
  for (auto _ : state) benchmark::DoNotOptimize(ComputePca(moments, state.range(0)).mean.data());
}
BENCHMARK(BM_Pca)->Arg(16)->Arg(64)->Arg(512)->ArgName("components")->Unit(benchmark::kMillisecond);

void BM_NearestOrthogonal(benchmark::State& state) {
  const MatrixF matrix = MakeData(state.range(0), state.range(0), 4);
  for (auto _ : state) benchmark::DoNotOptimize(NearestOrthogonal(matrix).data());
}
BENCHMARK(BM_NearestOrthogonal)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

// Only the product that an assignment cannot do without.
void BM_BareAssignmentProduct(benchmark::State& state) {
  (void)OneThread();
  const MatrixF centroids = MakeData(128, state.range(0), 5);
  const MatrixF block = MakeData(128, 8192, 6);
  MatrixF scores(state.range(0), 1024);
  for (auto _ : state) {
    for (Index first = 0; first < block.cols(); first += 1024) {
      scores.noalias() = centroids.transpose() * block.middleCols(first, 1024);
    }
    benchmark::DoNotOptimize(scores.data());
  }
  state.SetItemsProcessed(state.iterations() * block.cols());
}
BENCHMARK(BM_BareAssignmentProduct)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void BM_Assign(benchmark::State& state) {
  (void)OneThread();
  const KMeans model(MakeData(128, state.range(0), 5));
  const MatrixF block = MakeData(128, 8192, 6);
  for (auto _ : state) benchmark::DoNotOptimize(model.Assign(block).clusters.data());
  state.SetItemsProcessed(state.iterations() * block.cols());
}
BENCHMARK(BM_Assign)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void BM_KMeans(benchmark::State& state) {
  const MatrixF data = MakeData(128, 50000, 7);
  const MatrixColumns source(data);
  const KMeansOptions options = {.clusters = 256, .iterations = 5, .tolerance = 0};
  for (auto _ : state) {
    benchmark::DoNotOptimize(TrainKMeans(options, source, OneThread()).model.centroids().data());
  }
}
BENCHMARK(BM_KMeans)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bitpool

BENCHMARK_MAIN();
