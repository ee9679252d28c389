#include "bitpool/codes/sign_bits.h"

#include "bitpool/codes/binary_codes.h"
#include "bitpool/codes/instruction_sets.h"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitpool/codes/sign_bits.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bitpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
constexpr Index kLanes = hn::MaxLanes(Floats());
// A mask is stored in whole bytes, so that vectors of fewer lanes would overwrite each other's
// bits.
constexpr bool kWholeBytes = kLanes % 8 == 0;

// Packs one column; false when a value is not a number.
HWY_INLINE bool PackColumn(const float* HWY_RESTRICT values, Index bits,
                           uint8_t* HWY_RESTRICT row) {
  Index done = 0;
  bool numbers = true;
  if constexpr (kWholeBytes) {
    const Floats d;
    for (; done + kLanes <= bits; done += kLanes) {
      const auto value = hn::LoadU(d, values + done);
      numbers = numbers && hn::AllTrue(d, hn::Eq(value, value));
      hn::StoreMaskBits(d, hn::Ge(value, hn::Zero(d)), row + done / 8);
    }
  }
  for (; done < bits; done += 8) {
    unsigned byte = 0;
    for (Index bit = done; bit < bits && bit < done + 8; ++bit) {
      numbers = numbers && values[bit] == values[bit];
      byte |= (values[bit] >= 0 ? 1U : 0U) << (bit - done);
    }
    row[done / 8] = static_cast<uint8_t>(byte);
  }
  return numbers;
}

Index PackColumns(const float* values, Index bits, Index count, uint8_t* rows) {
  const auto bytes = static_cast<Index>(BytesPerCode(static_cast<int>(bits)));
  Index first_bad = count;
  for (Index column = 0; column < count; ++column) {
    const bool numbers = PackColumn(values + column * bits, bits, rows + column * bytes);
    if (!numbers && first_bad == count) first_bad = column;
  }
  return first_bad;
}

HWY_INLINE void UnpackRow(const uint8_t* HWY_RESTRICT row, Index bits, float* HWY_RESTRICT values) {
  Index done = 0;
  if constexpr (kWholeBytes) {
    const Floats d;
    for (; done + kLanes <= bits; done += kLanes) {
      // LoadMaskBits may read eight bytes, whatever the lanes.
      uint8_t mask[8] = {};
      for (Index byte = 0; byte < kLanes / 8; ++byte) mask[byte] = row[done / 8 + byte];
      hn::StoreU(hn::IfThenElse(hn::LoadMaskBits(d, mask), hn::Set(d, 1.0F), hn::Set(d, -1.0F)), d,
                 values + done);
    }
  }
  for (; done < bits; ++done) values[done] = (row[done / 8] >> (done % 8) & 1) != 0 ? 1.0F : -1.0F;
}

void UnpackRows(const uint8_t* rows, Index bits, Index count, float* values) {
  const auto bytes = static_cast<Index>(BytesPerCode(static_cast<int>(bits)));
  for (Index column = 0; column < count; ++column) {
    UnpackRow(rows + column * bytes, bits, values + column * bits);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace bitpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bitpool {

HWY_EXPORT(PackColumns);
HWY_EXPORT(UnpackRows);

Index PackSigns(const float* values, Index bits, Index count, uint8_t* rows) {
  return HWY_DYNAMIC_DISPATCH(PackColumns)(values, bits, count, rows);
}

void UnpackSigns(const uint8_t* rows, Index bits, Index count, float* values) {
  HWY_DYNAMIC_DISPATCH(UnpackRows)(rows, bits, count, values);
}

}  // namespace bitpool
#endif  // HWY_ONCE
