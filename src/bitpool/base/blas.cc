#include "bitpool/base/blas.h"

#include <cblas.h>

#include <cstdlib>
#include <string_view>

// OpenBLAS's own functions, which no header declares. They are weak: a copy that was built for one
// processor does not have them, and needs no choice.
extern "C" {
void gotoblas_dynamic_init() __attribute__((weak));
void gotoblas_dynamic_quit() __attribute__((weak));
}

namespace bitpool {
namespace {

constexpr const char* kCoreType = "OPENBLAS_CORETYPE";

// What a processor that OpenBLAS does not know is able to run; null where its own choice is right.
const char* BetterCoreType() {
#if defined(__x86_64__)
  // OpenBLAS goes by the model's number, and takes the kernels of 2004 for one it has never heard
  // of: Debian's 0.3.21 is a quarter as fast as it could be on processors that came after it.
  if (std::string_view(openblas_get_corename()) != "Prescott") return nullptr;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

void ChooseKernels() {
  if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr) return;
  gotoblas_dynamic_init();  // does nothing where OpenBLAS was initialised before us
  if (std::getenv(kCoreType) != nullptr) return;
  const char* better = BetterCoreType();
  if (better == nullptr) return;
  // OpenBLAS takes this choice from the environment only.
  gotoblas_dynamic_quit();
  setenv(kCoreType, better, 1);
  gotoblas_dynamic_init();
  unsetenv(kCoreType);
}

}  // namespace

void PrepareBlas() {
  ChooseKernels();
  openblas_set_num_threads(1);
}

std::string DescribeBlas() { return openblas_get_config(); }

}  // namespace bitpool
