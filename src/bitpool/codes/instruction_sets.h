#pragma once

// Read before Highway by every file that is compiled once for each instruction set, the best of
// which is chosen at run time.

#define HWY_WANT_AVX3_DL  // AVX-512 with VPOPCNTDQ, BITALG and VBMI
// Arrays of vectors need a size that is known when compiling.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
