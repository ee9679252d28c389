#include "bitpool/dataset/vector_file.h"

namespace bitpool {

ColumnsView VectorFile::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  buffer.resize(dimension(), count);
  file_.Read<float>(static_cast<uint64_t>(first), static_cast<uint64_t>(count),
                    {buffer.data(), static_cast<size_t>(buffer.size())});
  return ViewOf(buffer);
}

}  // namespace bitpool
