#include "bitpool/base/blas.h"

#include <cblas.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "bitpool/base/task_pool.h"

namespace bitpool {
namespace {

TEST(Blas, HasOneThreadAlsoWithoutAPool) { EXPECT_EQ(openblas_get_num_threads(), 1); }

TEST(Blas, RunsTheKernelsOfTheProcessor) {
  TaskPool pool(2);
  const std::string blas = DescribeBlas();
  EXPECT_NE(blas.find("OpenBLAS"), std::string::npos);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) {
    EXPECT_EQ(blas.find("Prescott"), std::string::npos) << blas;
  }
  if (std::getenv("OPENBLAS_CORETYPE") == nullptr && __builtin_cpu_supports("avx512bw")) {
    EXPECT_EQ(blas.find("Haswell"), std::string::npos) << blas;
  }
#endif
}

TEST(Blas, MultipliesMatrices) {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  float c[4];
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
  EXPECT_EQ(c[0], 23);
  EXPECT_EQ(c[1], 34);
  EXPECT_EQ(c[2], 31);
  EXPECT_EQ(c[3], 46);
}

}  // namespace
}  // namespace bitpool
