// Codes come and go all the time while threads search: memory and speed at the end must be those of
// the beginning, and every answer that of brute force.
//
//   bitpool-index-load [CODES [CHANGES [THREADS [BATCH]]]]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"
#include "bitpool/index/code_index.h"

namespace bitpool {
namespace {

constexpr int kBits = 64;
constexpr int64_t kNearest = 10;
constexpr int kStages = 10;

struct Load {
  int64_t codes = 10'000'000;
  int64_t changes = 100'000;
  int threads = 10;
  int64_t batch = 10;  // codes that come and go in each change
};

double ResidentMib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

// Near one of a thousand centres, as codes of pictures are.
std::array<uint8_t, kBits / 8> MakeCode(Random& random) {
  Random centre(random.Below(1000));
  uint64_t bits = (centre.Below(1U << 31) << 32) ^ centre.Below(1U << 31);
  for (uint64_t flips = random.Below(12); flips > 0; --flips)
    bits ^= uint64_t{1} << random.Below(64);
  std::array<uint8_t, kBits / 8> code = {};
  for (size_t i = 0; i < code.size(); ++i) code[i] = static_cast<uint8_t>(bits >> (8 * i));
  return code;
}

// How long searches took, to a hundredth of a millisecond, in memory that does not grow with them.
class SearchTimes {
 public:
  void Add(double milliseconds) {
    const auto slot = static_cast<size_t>(milliseconds * 100);
    ++counts_[std::min(slot, counts_.size() - 1)];
  }

  // Milliseconds; 0 when there was none.
  double Median() const {
    int64_t all = 0;
    for (const int64_t count : counts_) all += count;
    size_t slot = 0;
    for (int64_t below = counts_[0]; 2 * below < all; below += counts_[slot]) ++slot;
    return static_cast<double>(slot) / 100;
  }

 private:
  std::array<std::atomic<int64_t>, 10'000> counts_ = {};
};

// The index and, apart from it, what must be in it.
class Attack {
 public:
  explicit Attack(const Load& load) : load_(load), index_({.bits = kBits}) {
    BinaryCodes codes(kBits);
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < load.codes; ++i) {
      codes.Append(NewCode());
      ids.push_back(static_cast<int64_t>(rows_.size() / 8) - 1);
    }
    alive_ = ids;
    index_.Add(codes, ids);
  }

  // Makes this many changes while the threads search; returns the median time of a search in
  // milliseconds.
  double Change(int64_t changes) {
    SearchTimes times;
    std::atomic<bool> over = false;
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<size_t>(load_.threads));
    for (int i = 0; i < load_.threads; ++i) {
      threads.emplace_back([&, i] { Search(static_cast<uint64_t>(i), over, times); });
    }
    for (int64_t change = 0; change < changes; ++change) ChangeOnce();
    over = true;
    threads.clear();
    return times.Median();
  }

  // Compares some answers with brute force; throws for a wrong one.
  void Check() {
    for (int query = 0; query < 5; ++query) {
      const auto code = MakeCode(random_);
      const SearchResult result =
          index_.Search(BinaryCodes(kBits, {code.begin(), code.end()}), kNearest, RunContext());
      std::vector<Neighbour> all;
      for (const int64_t id : alive_) {
        all.push_back({.id = id, .distance = HammingDistance(code, CodeOf(id))});
      }
      std::partial_sort(all.begin(), all.begin() + kNearest, all.end());
      if (!std::equal(result.neighbours.begin(), result.neighbours.end(), all.begin())) {
        throw Error(ErrorCode::kInternal, "an answer is not that of brute force");
      }
    }
  }

  int64_t searches() const { return searches_; }

 private:
  std::span<const uint8_t> CodeOf(int64_t id) const {
    return std::span(rows_).subspan(static_cast<size_t>(id) * 8, 8);
  }

  std::span<const uint8_t> NewCode() {
    const auto code = MakeCode(random_);
    rows_.insert(rows_.end(), code.begin(), code.end());
    return std::span(rows_).last(8);
  }

  void ChangeOnce() {
    std::vector<int64_t> removed, added;
    BinaryCodes codes(kBits);
    for (int64_t i = 0; i < load_.batch; ++i) {
      codes.Append(NewCode());
      added.push_back(static_cast<int64_t>(rows_.size() / 8) - 1);
      int64_t& place = alive_[random_.Below(alive_.size())];
      if (std::ranges::find(added, place) == added.end()) {
        removed.push_back(std::exchange(place, added.back()));
      } else {  // it came just now, and stays
        alive_.push_back(added.back());
      }
    }
    if (index_.Change(removed, codes, added) != removed.size()) {
      throw Error(ErrorCode::kInternal, "an id that was there could not be removed");
    }
  }

  void Search(uint64_t seed, const std::atomic<bool>& over, SearchTimes& times) {
    Random random(seed);
    const RunContext one_thread({.threads = 1});
    while (!over) {
      const auto code = MakeCode(random);
      const auto start = std::chrono::steady_clock::now();
      index_.Search(BinaryCodes(kBits, {code.begin(), code.end()}), kNearest, one_thread);
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      ++searches_;
      times.Add(time.count());
    }
  }

  Load load_;
  CodeIndex index_;
  Random random_{1};
  std::vector<uint8_t> rows_;  // the code of every id there ever was
  std::vector<int64_t> alive_;
  std::atomic<int64_t> searches_ = 0;
};

void KeepUp(const Load& load) {
  Attack attack(load);
  attack.Check();
  fmt::print("{} codes, {:.0f} MiB\n", load.codes, ResidentMib());
  for (int stage = 1; stage <= kStages; ++stage) {
    const double median = attack.Change(load.changes / kStages);
    attack.Check();
    fmt::print("{} changes: {:.0f} MiB, a search {:.2f} ms, {} searches\n",
               stage * load.changes / kStages, ResidentMib(), median, attack.searches());
    std::fflush(stdout);
  }
}

// As the command line says; what it leaves out has its default.
Load LoadOf(const std::vector<std::string_view>& words) {
  Load load;
  int64_t threads = load.threads;
  const std::array places = {&load.codes, &load.changes, &threads, &load.batch};
  if (words.size() > places.size()) throw std::invalid_argument("expected at most four numbers");
  for (size_t i = 0; i < words.size(); ++i) {
    const char* end = words[i].data() + words[i].size();
    const auto [stopped, problem] = std::from_chars(words[i].data(), end, *places[i]);
    if (problem != std::errc() || stopped != end || *places[i] < 1) {
      throw std::invalid_argument(fmt::format("expected a number of 1 or more: {}", words[i]));
    }
  }
  load.threads = static_cast<int>(threads);
  return load;
}

}  // namespace
}  // namespace bitpool

int main(int argc, char** argv) {
  try {
    bitpool::KeepUp(bitpool::LoadOf({argv + 1, argv + argc}));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "index_load: {}\n", error.what());
    return 1;
  }
}
