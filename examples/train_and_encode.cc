// Learns codes of 64 bits from vectors, and turns vectors into codes.
#include <bitpool/bitpool.h>

#include <cstdio>
#include <random>
#include <vector>

int main() {
  constexpr std::size_t kDimension = 128;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(10'000 * kDimension);
  for (float& number : numbers) number = normal(random);

  const bitpool::Vectors vectors(numbers, kDimension);
  const bitpool::Model model = bitpool::Train("itq", vectors, {.bits = 64});
  const bitpool::Codes codes = model.Encode(vectors);
  std::printf("%s\n%zu codes of %d bits\n", model.report().c_str(), codes.size(), codes.bits());
  model.Save("itq.bpm");
  return codes.size() == 10'000 && bitpool::Model::Open("itq.bpm").bits() == 64 ? 0 : 1;
}
