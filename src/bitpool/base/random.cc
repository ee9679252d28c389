#include "bitpool/base/random.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_set>

namespace bitpool {
namespace {

uint64_t SplitMix(uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  uint64_t z = state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

}  // namespace

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::Below(uint64_t bound) {
  // Numbers under 2⁶⁴ mod bound are drawn again: what is left divides evenly.
  const uint64_t threshold = (0 - bound) % bound;
  uint64_t number = Next();
  while (number < threshold) number = Next();
  return number % bound;
}

double Random::Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

double Random::Normal() {
  // Box–Muller, one of the pair: simple, and nothing to carry between calls.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

Random Random::Fork(uint64_t stream) const {
  uint64_t state = state_[0] ^ std::rotl(state_[3], 23);
  const uint64_t mixed = SplitMix(state);
  return Random(mixed + stream * 0xd1342543de82ef95ULL);
}

std::vector<uint64_t> Random::Sample(uint64_t population, uint64_t count) {
  if (count > population / 4) {  // dense: shuffle the front of the whole range
    std::vector<uint64_t> all(population);
    std::iota(all.begin(), all.end(), uint64_t{0});
    for (uint64_t i = 0; i < count; ++i) std::swap(all[i], all[i + Below(population - i)]);
    all.resize(count);
    return all;
  }
  std::vector<uint64_t> chosen;
  chosen.reserve(count);
  std::unordered_set<uint64_t> seen;
  while (chosen.size() < count) {
    const uint64_t candidate = Below(population);
    if (seen.insert(candidate).second) chosen.push_back(candidate);
  }
  return chosen;
}

MatrixF Random::NormalMatrix(Index rows, Index cols) {
  MatrixF matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = static_cast<float>(Normal());
  return matrix;
}

}  // namespace bitpool
