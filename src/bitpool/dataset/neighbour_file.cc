#include "bitpool/dataset/neighbour_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool {

ListedTruth LoadNeighbours(Env& env, const std::filesystem::path& path, Index database_size) {
  const SampleFile file = OpenSamples(env, path);
  ListedTruth truth(database_size);
  std::vector<int64_t> row(file.dimension());
  for (uint64_t query = 0; query < file.count(); ++query) {
    file.Read<int64_t>(query, 1, std::span(row));
    std::vector<Index> relevant;
    std::copy_if(row.begin(), row.end(), std::back_inserter(relevant),
                 [](int64_t item) { return item != -1; });
    InContext(path.string(), [&] { truth.AddQuery(std::move(relevant)); });
  }
  return truth;
}

}  // namespace bitpool
