#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/io/env.h"
#include "bitpool/report/experiment_result.h"

namespace bitpool {

// What a reproduction with another network has found, to be shown beside this one.
struct OtherNetwork {
  std::string name;
  // By the name of the entry and the heading of its part.
  std::map<std::pair<std::string, std::string>, std::vector<ExperimentResult>> results = {};

  // Null where it has nothing of this part.
  const std::vector<ExperimentResult>* Find(const std::string& entry,
                                            const std::string& heading) const;
};

// From the results.json in the folder of a reproduction. Throws kNotFound where there is none, and
// kCorrupt, naming the file, for JSON of another shape.
OtherNetwork ReadOtherNetwork(Env& env, const std::filesystem::path& folder);

}  // namespace bitpool
