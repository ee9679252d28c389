#include "bitpool/dataset/vector_file.h"

#include "bitpool/base/random.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {
namespace {

TEST(VectorFile, ColumnsAreTheRowsOfTheFile) {
  const testing::TempFolder folder;
  const MatrixF vectors = Random(1).NormalMatrix(7, 1000);
  const auto writer =
      CreateSamples(Env::Posix(), folder / "x.fvecs", DType::kF4, {7}, IfExists::kFail);
  writer->Append<float>({vectors.data(), static_cast<size_t>(vectors.size())});
  writer->Commit();
  const VectorFile file(OpenSamples(Env::Posix(), folder / "x.fvecs"));
  ASSERT_EQ(file.dimension(), 7);
  ASSERT_EQ(file.size(), 1000);
  MatrixF buffer;
  EXPECT_EQ(MatrixF(file.Read(100, 50, buffer)), vectors.middleCols(100, 50));
  testing::ExpectError(ErrorCode::kInvalidArgument, {"1000"}, [&] { file.Read(999, 2, buffer); });

  // Trainers see no difference between the file and the matrix.
  const RunContext context({.threads = 2});
  const Moments of_file = ComputeMoments(file, context);
  const Moments of_matrix = ComputeMoments(MatrixColumns(vectors), context);
  EXPECT_EQ(of_file.scatter(), of_matrix.scatter());
}

}  // namespace
}  // namespace bitpool
