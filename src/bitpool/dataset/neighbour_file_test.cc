#include "bitpool/dataset/neighbour_file.h"

#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

TEST(LoadNeighbours, ReadsRowsAndIgnoresPadding) {
  const testing::TempFolder folder;
  const auto writer =
      CreateSamples(Env::Posix(), folder / "t.ivecs", DType::kI4, {2}, IfExists::kFail);
  const std::vector<int32_t> rows = {2, 0, 1, -1};
  writer->Append<int32_t>(rows);
  writer->Commit();
  const ListedTruth truth = LoadNeighbours(Env::Posix(), folder / "t.ivecs", 3);
  EXPECT_EQ(truth.relevant(0), (std::vector<Index>{0, 2}));
  EXPECT_EQ(truth.relevant(1), std::vector<Index>{1});
  ExpectError(ErrorCode::kInvalidArgument, {"t.ivecs", "item 2", "has 2"},
              [&] { LoadNeighbours(Env::Posix(), folder / "t.ivecs", 2); });
}

}  // namespace
}  // namespace bitpool
