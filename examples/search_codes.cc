// Builds an index of codes, searches it, saves it, and opens it again.
#include <bitpool/bitpool.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

int main() {
  std::mt19937_64 random(1);
  std::vector<std::uint8_t> rows(100'000 * 8);
  for (std::uint8_t& byte : rows) byte = static_cast<std::uint8_t>(random());

  bitpool::Index index(64);
  index.Add(bitpool::Codes(64, rows));  // under the ids 0, 1, 2, ...

  const bitpool::Codes queries(64, {rows.begin(), rows.begin() + 16});  // the first two codes
  for (const bitpool::Hit& hit : index.Search(queries, 5)[1]) {
    std::printf("id %lld at distance %d\n", static_cast<long long>(hit.id), hit.distance);
  }
  index.Save("codes.bpi");
  const bitpool::Index opened = bitpool::Index::Open("codes.bpi");
  return opened.Search(queries, 1)[1][0].id == 1 ? 0 : 1;
}
