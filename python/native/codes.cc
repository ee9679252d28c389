// Packed codes as arrays: pack, unpack, distances.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "jobs.h"

namespace bitpool::python {
namespace {

// A bit is 1 where the number is positive.
py::array_t<uint8_t> Pack(const py::array& bits) {
  const ArrayColumns source(bits, "bits");
  const auto length = static_cast<int>(std::min<Index>(source.dimension(), kMaxBits + 1));
  BinaryCodes packed = Explained(source, [&](const ArrayColumns& columns) {
    RequireBits(length);
    const py::gil_scoped_release released;
    BinaryCodes codes(length);
    constexpr Index kBlock = 4096;
    MatrixF buffer;
    for (Index first = 0; first < columns.size(); first += kBlock) {
      const ColumnsView block =
          columns.Read(first, std::min(kBlock, columns.size() - first), buffer);
      RequireFinite(block, first);
      const MatrixF signs =
          (block.array() > 0).select(MatrixF::Ones(block.rows(), block.cols()), -1.0F);
      codes.Append(BinaryCodes::FromSigns(signs).rows());
    }
    return codes;
  });
  return ArrayOfCodes(std::move(packed));
}

py::array_t<uint8_t> Unpack(const py::array& codes, int bits) {
  const BinaryCodes packed = CodesOf(codes, bits, "codes");
  const auto length = static_cast<size_t>(bits);
  std::vector<uint8_t> values(static_cast<size_t>(packed.size()) * length);
  for (Index i = 0; i < packed.size(); ++i) {
    const auto code = packed.code(i);
    uint8_t* const out = values.data() + static_cast<size_t>(i) * length;
    for (size_t bit = 0; bit < length; ++bit) out[bit] = (code[bit / 8] >> (bit % 8)) & 1;
  }
  return ArrayOf(std::move(values), {packed.size(), bits});
}

// All distances, (n, m).
py::array_t<int32_t> Hamming(const py::array& a, const py::array& b, int bits, int threads) {
  const BinaryCodes first = CodesOf(a, bits, "a"), second = CodesOf(b, bits, "b");
  const auto width = static_cast<size_t>(second.size());
  std::vector<int32_t> distances(static_cast<size_t>(first.size()) * width);
  {
    const py::gil_scoped_release released;
    BriefContext(threads).ParallelFor(
        static_cast<size_t>(first.size()), 16, [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) {
            for (size_t j = 0; j < width; ++j) {
              distances[i * width + j] = HammingDistance(first.code(static_cast<Index>(i)),
                                                         second.code(static_cast<Index>(j)));
            }
          }
        });
  }
  return ArrayOf(std::move(distances), {first.size(), second.size()});
}

}  // namespace

void BindCodes(py::module_& module) {
  module.attr("MAX_BITS") = kMaxBits;
  module.def("pack", &Pack, py::arg("bits"));
  module.def("unpack", &Unpack, py::arg("codes"), py::arg("n_bits"));
  module.def("hamming", &Hamming, py::arg("a"), py::arg("b"), py::arg("n_bits"),
             py::arg("n_threads"));
}

}  // namespace bitpool::python
