#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bitpool/hash/hash_model.h"

namespace bitpool {

// A query picture and the first pictures that it found.
struct ShownSearch {
  struct Result {
    std::string name;
    int distance = 0;
    bool right = false;
  };
  std::string query;
  std::vector<Result> results;  // nearest first
};

// What one run of one method, with one code length and one seed, found.
struct RunFigures {
  std::map<std::string, double> metrics;
  std::string model = {};  // ModelDigest of what was learned
  std::vector<ShownSearch> shown = {};
};

struct RunKey {
  std::string method;
  int bits = 0;
  uint64_t seed = 0;
  friend bool operator==(const RunKey&, const RunKey&) = default;
  friend bool operator<(const RunKey& a, const RunKey& b) {
    return std::tie(a.method, a.bits, a.seed) < std::tie(b.method, b.bits, b.seed);
  }
};

// Keeps the figures of single runs, so that an experiment that was interrupted does only what is
// missing. The caller makes sure that the store is of the same data and settings as the experiment.
class FigureStore {
 public:
  virtual ~FigureStore() = default;

  const std::map<RunKey, RunFigures>& all() const { return figures_; }
  void Keep(const RunKey& key, RunFigures figures);

 protected:
  // Without Save: they come from where Save would put them.
  void Restore(std::map<RunKey, RunFigures> figures) { figures_ = std::move(figures); }

 private:
  // Called after every change.
  virtual void Save() {}

  std::map<RunKey, RunFigures> figures_;
};

// The figures of the store, or those that `make` gives, which are then kept. Without a store: what
// `make` gives.
RunFigures FindOrMake(FigureStore* store, const RunKey& key,
                      const std::function<RunFigures()>& make);

// 32 hexadecimal digits of everything a model consists of. Equal digests mean equal codes.
std::string ModelDigest(const HashModel& model);

nlohmann::json ToJson(const RunKey& key, const RunFigures& figures);
// The reverse. Throws kCorrupt for JSON of another shape.
std::pair<RunKey, RunFigures> FiguresFromJson(const nlohmann::json& json);

}  // namespace bitpool
