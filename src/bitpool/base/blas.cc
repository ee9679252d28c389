#include "bitpool/base/blas.h"

#include <cblas.h>

#include <cstdlib>
#include <optional>
#include <string_view>

// OpenBLAS's own functions, which no header declares. They are weak: a copy that was built for one
// processor has no choice of kernels.
extern "C" {
void gotoblas_init() __attribute__((weak));
void gotoblas_dynamic_init() __attribute__((weak));
void gotoblas_dynamic_quit() __attribute__((weak));
}

namespace bitpool {
namespace {

// A variable of the environment for as long as this lives: OpenBLAS takes some choices from there
// only.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value, 1);
  }
  ~Setting() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

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
  constexpr const char* kCoreType = "OPENBLAS_CORETYPE";
  if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr) return;
  gotoblas_dynamic_init();
  if (std::getenv(kCoreType) != nullptr) return;  // the user's choice
  const char* better = BetterCoreType();
  if (better == nullptr) return;
  const Setting core_type(kCoreType, better);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
}

// Before OpenBLAS initialises itself: there are no threads of its own yet, and with one thread it
// starts none.
__attribute__((constructor(101))) void PrepareWhenLoaded() { PrepareBlas(); }

}  // namespace

void PrepareBlas() {
  ChooseKernels();
  if (gotoblas_init != nullptr) {
    const Setting threads("OPENBLAS_NUM_THREADS", "1");
    gotoblas_init();
  }
  openblas_set_num_threads(1);
}

std::string DescribeBlas() { return openblas_get_config(); }

}  // namespace bitpool
