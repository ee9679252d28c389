#include "bitpool/pool/column_products.h"

#include <algorithm>
#include <cstring>

namespace bitpool {
namespace {

// Columns that are read together. At 512 dimensions they fill half of a first-level cache of 32 KB.
constexpr Index kBlock = 8;

// The compilers make the best of the target out of this: one register of AVX-512 or several others.
constexpr Index kLanes = 16;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

#define BITPOOL_INLINE [[gnu::always_inline]] inline

// By reference: how such a vector is passed by value depends on the instruction set.
BITPOOL_INLINE void Load(const float* from, Lanes& lanes) {
  std::memcpy(&lanes, from, sizeof(lanes));
}

BITPOOL_INLINE float SumOfLanes(const Lanes& lanes) {
  float values[kLanes];
  std::memcpy(values, &lanes, sizeof(lanes));
  for (Index width = kLanes / 2; width > 0; width /= 2) {
    for (Index lane = 0; lane < width; ++lane) values[lane] += values[lane + width];
  }
  return values[0];
}

// Some columns of V, at most kExactColumns.
struct Columns {
  const float* data;
  Index stride;
  Index rows;
  Index count;

  Columns From(Index first) const { return {data + first * stride, stride, rows, count - first}; }
};

// factors[j] = vⱼᵀ in of the first kCount columns.
template <Index kCount>
BITPOOL_INLINE void Dots(const Columns& columns, const float* in, float* factors) {
  const Index whole = columns.rows - columns.rows % kLanes;
  Lanes sums[kCount] = {};
  for (Index row = 0; row < whole; row += kLanes) {
    Lanes values;
    Load(in + row, values);
    for (Index j = 0; j < kCount; ++j) {
      Lanes column;
      Load(columns.data + j * columns.stride + row, column);
      sums[j] += column * values;
    }
  }
  for (Index j = 0; j < kCount; ++j) {
    float rest = 0;
    for (Index row = whole; row < columns.rows; ++row) {
      rest += columns.data[j * columns.stride + row] * in[row];
    }
    factors[j] = rest + SumOfLanes(sums[j]);
  }
}

// out += Σ vⱼ factors[j] over the first kCount columns. Meanwhile prefetches the same rows of the
// columns from `next` on: the processor by itself looks ahead no further than the end of a page.
template <Index kCount>
BITPOOL_INLINE void AddColumns(const Columns& columns, const float* next, const float* factors,
                               float* out) {
  const Index whole = columns.rows - columns.rows % kLanes;
  for (Index row = 0; row < whole; row += kLanes) {
    Lanes sum;
    Load(out + row, sum);
    for (Index j = 0; j < kCount; ++j) {
      __builtin_prefetch(next + j * columns.stride + row);
      Lanes column;
      Load(columns.data + j * columns.stride + row, column);
      sum += column * factors[j];
    }
    std::memcpy(out + row, &sum, sizeof(sum));
  }
  for (Index row = whole; row < columns.rows; ++row) {
    for (Index j = 0; j < kCount; ++j) {
      out[row] += columns.data[j * columns.stride + row] * factors[j];
    }
  }
}

template <Index kCount>
BITPOOL_INLINE void AddProduct(const Columns& columns, const float* next, const float* weights,
                               const float* in, float* out) {
  float factors[kCount];
  if (in != nullptr) {
    Dots<kCount>(columns, in, factors);
  } else {
    std::fill_n(factors, kCount, 1.0F);
  }
  if (weights != nullptr) {
    for (Index j = 0; j < kCount; ++j) factors[j] *= weights[j];
  }
  AddColumns<kCount>(columns, next, factors, out);
}

// out += Σ vⱼ weights[j] (vⱼᵀ in); without weights they are one, without `in` the products are one.
BITPOOL_INLINE void AddProducts(const Columns& columns, const float* weights, const float* in,
                                float* out) {
  Index first = 0;
  for (; first + kBlock <= columns.count; first += kBlock) {
    const Columns block = columns.From(first);
    const bool last = first + 2 * kBlock > columns.count;
    const float* next = last ? block.data : block.From(kBlock).data;
    AddProduct<kBlock>(block, next, weights != nullptr ? weights + first : nullptr, in, out);
  }
  for (; first < columns.count; ++first) {
    const Columns column = columns.From(first);
    AddProduct<1>(column, column.data, weights != nullptr ? weights + first : nullptr, in, out);
  }
}

using AddProductsFunction = void(const Columns& columns, const float* weights, const float* in,
                                 float* out);

void AddProductsPlain(const Columns& columns, const float* weights, const float* in, float* out) {
  AddProducts(columns, weights, in, out);
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void AddProductsAvx512(const Columns& columns, const float* weights,
                                                  const float* in, float* out) {
  AddProducts(columns, weights, in, out);
}

[[gnu::target("avx2,fma")]] void AddProductsAvx2(const Columns& columns, const float* weights,
                                                 const float* in, float* out) {
  AddProducts(columns, weights, in, out);
}
#endif

AddProductsFunction* ChooseAddProducts() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return AddProductsAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return AddProductsAvx2;
#endif
  return AddProductsPlain;
}

// out = Σ over all columns, as AddProducts.
void SumProducts(const MatrixFRef& matrix, const float* weights, const float* in, VectorF& out) {
  static AddProductsFunction* const add_products = ChooseAddProducts();
  const Columns all = {matrix.data(), matrix.outerStride(), matrix.rows(), matrix.cols()};
  const auto add_part = [&](Index first) {
    Columns part = all.From(first);
    part.count = std::min(part.count, kExactColumns);
    out.setZero();
    add_products(part, weights != nullptr ? weights + first : nullptr, in, out.data());
  };
  add_part(0);
  if (all.count <= kExactColumns) return;
  VectorD total = out.cast<double>();
  for (Index first = kExactColumns; first < all.count; first += kExactColumns) {
    add_part(first);
    total += out.cast<double>();
  }
  out = total.cast<float>();
}

}  // namespace

VectorF SumColumns(const MatrixFRef& columns) {
  VectorF sum(columns.rows());
  SumProducts(columns, nullptr, nullptr, sum);
  return sum;
}

void MultiplyByGram(const MatrixFRef& columns, const VectorF& in, VectorF& out) {
  SumProducts(columns, nullptr, in.data(), out);
}

void AddWeightedGram(const MatrixFRef& columns, const VectorF& weights, const VectorF& in,
                     VectorF& out) {
  VectorF product(columns.rows());
  SumProducts(columns, weights.data(), in.data(), product);
  out += product;
}

}  // namespace bitpool
