#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {

// One of the arrays that an encoder consists of, with its name, as it is stored. A vector is a
// matrix of one column.
using NamedMatrix = std::pair<std::string, MatrixF>;

// What an encoder makes of some vectors, both from one product: the signs of the numbers are the
// codes.
struct EncodedVectors {
  BinaryCodes codes{1};
  MatrixF projections;  // bits × n
};

// Turns vectors into binary codes. Never changes and may be used from many threads.
class HashEncoder {
 public:
  virtual ~HashEncoder() = default;

  virtual Index dimension() const = 0;  // of the vectors
  virtual int bits() const = 0;

  // h of every column, bits × n, before it is rounded: bit i of the code is 1 where h is not
  // negative, and the farther from zero, the surer the bit. Throws kInvalidArgument for another
  // dimension.
  //
  // A column has the same numbers, to the last bit, whichever columns it is encoded with; only with
  // the kernels of OpenBLAS for AVX2, the last digits depend on its place among them.
  MatrixF Project(const MatrixFRef& block) const;

  // The codes of the columns: the signs of Project, with sgn(0) = +1. Throws kInvalidArgument,
  // naming the column, for a result that is not finite.
  BinaryCodes Encode(const MatrixFRef& block) const;

  // Both, from one product.
  EncodedVectors EncodeBlock(const MatrixFRef& block) const;

  // What distinguishes encoders in files: "linear", "spheres", "product", "kernel",
  // "two_layer".
  virtual std::string_view kind() const = 0;
  virtual std::vector<NamedMatrix> Parameters() const = 0;

 private:
  // Of a fixed number of columns.
  // REQUIRES: block.rows() == dimension()
  virtual MatrixF ProjectColumns(const MatrixFRef& block) const = 0;
};

// h = W₁x + c₁
class LinearEncoder : public HashEncoder {
 public:
  // Throws kInvalidArgument for sizes that do not agree or numbers that are not finite.
  explicit LinearEncoder(LinearMap map);

  Index dimension() const override { return map_.weights.cols(); }
  int bits() const override { return static_cast<int>(map_.weights.rows()); }
  std::string_view kind() const override { return "linear"; }
  std::vector<NamedMatrix> Parameters() const override;

  const LinearMap& map() const { return map_; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override;

  LinearMap map_;
};

// Encoding of many vectors, in parallel, this many by a thread at a time: few enough to stay in its
// cache, and a multiple of what a product takes. Throws kInvalidArgument, naming the column, for
// numbers that are not finite.
inline constexpr Index kEncodingGroup = 480;

// The codes of all columns.
BinaryCodes EncodeAll(const HashEncoder& encoder, const ColumnSource& source,
                      const RunContext& context);

// Codes and numbers of all columns, kept in memory.
EncodedVectors EncodeBatch(const HashEncoder& encoder, const ColumnSource& source,
                           const RunContext& context);

// Gets consecutive columns, the first of which has the number `first`.
using EncodedSink = std::function<void(Index first, const EncodedVectors& encoded)>;

// The same for a source larger than memory: the sink gets all columns, in order, thousands at a
// time.
void EncodeBatch(const HashEncoder& encoder, const ColumnSource& source, const RunContext& context,
                 const EncodedSink& sink);

}  // namespace bitpool
