#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/codes/binary_codes.h"
#include "bitpool/index/code_index.h"
#include "bitpool/io/env.h"

namespace bitpool {

// An index of plain codes under a name, and the file it is from. Changes are in memory until they
// are saved. Used from many threads.
class ServedIndex {
 public:
  // Throws as OpenIndex.
  ServedIndex(Env& env, std::string name, std::filesystem::path file, const RunContext& context);

  const std::string& name() const { return name_; }
  const CodeIndex& codes() const { return *index_; }

  struct Change {
    uint64_t added = 0;
    uint64_t removed = 0;
    std::optional<int64_t> first_id = {};  // of codes that were added without ids
  };
  // Without ids the codes get the ids after the largest one in the index. `replace`: existing ids
  // get the new codes. Throws as CodeIndex::Change.
  Change Add(const BinaryCodes& codes, std::optional<std::vector<int64_t>> ids, bool replace);
  Change Remove(const std::vector<int64_t>& ids);

  // Writes the changes, if there are any, to the file. Throws as SaveIndex.
  void Save();

  nlohmann::json ToJson() const;

 private:
  Env& env_;
  std::string name_;
  std::filesystem::path file_;
  std::unique_ptr<CodeIndex> index_;
  std::mutex changing_;  // held while ids are chosen, and while the file is written
  int64_t max_id_;       // of all that ever were: ids are never reused
  std::atomic<bool> saved_ = true;
};

}  // namespace bitpool
