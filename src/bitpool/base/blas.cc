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

// An environment variable that is set for as long as this lives: OpenBLAS takes some choices only
// from the environment.
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

// The kernels to use on a processor that OpenBLAS does not know; null where OpenBLAS's own choice
// is right.
const char* BetterCoreType() {
#if defined(__x86_64__)
  // OpenBLAS goes by the model number. For a model it does not know, it takes the kernels of 2004,
  // or of 2013 where the maker is AMD: on processors newer than itself, Debian's 0.3.21 is a
  // quarter or a half as fast as it could be.
  const std::string_view chosen = openblas_get_corename();
  if (chosen != "Prescott" && chosen != "Haswell") return nullptr;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return "SkylakeX";
  }
  if (chosen == "Prescott" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return "Haswell";
  }
#endif
  return nullptr;
}

void ChooseKernels() {
  constexpr const char* kCoreType = "OPENBLAS_CORETYPE";
  if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr) return;
  gotoblas_dynamic_init();
  const char* wanted = std::getenv(kCoreType);
  if (wanted != nullptr && *wanted != '\0') return;  // the user's choice
  const char* better = BetterCoreType();
  if (better == nullptr) return;
  const Setting core_type(kCoreType, better);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
}

// Runs before OpenBLAS initialises itself: it has no threads of its own yet, and, set to one
// thread, starts none.
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
