#include "bitpool/serve/served_index.h"

#include <algorithm>

#include "bitpool/index/index_file.h"

namespace bitpool {

ServedIndex::ServedIndex(Env& env, std::string name, std::filesystem::path file,
                         const RunContext& context)
    : env_(env),
      name_(std::move(name)),
      file_(std::move(file)),
      index_(OpenIndex(env, file_, false, context)),
      max_id_(index_->max_id()) {}

ServedIndex::Change ServedIndex::Add(const BinaryCodes& codes,
                                     std::optional<std::vector<int64_t>> ids, bool replace) {
  const std::lock_guard lock(changing_);
  Change change{.added = static_cast<uint64_t>(codes.size())};
  if (!ids) {
    change.first_id = max_id_ + 1;
    ids = CountIds(max_id_ + 1, codes.size());
  }
  change.removed = index_->Change(
      replace ? std::span<const int64_t>(*ids) : std::span<const int64_t>(), codes, *ids);
  if (!ids->empty()) max_id_ = std::max(max_id_, *std::ranges::max_element(*ids));
  saved_ = saved_ && codes.size() == 0;
  return change;
}

ServedIndex::Change ServedIndex::Remove(const std::vector<int64_t>& ids) {
  const std::lock_guard lock(changing_);
  const Change change{.removed = index_->Change(ids, BinaryCodes(index_->bits()), {})};
  saved_ = saved_ && change.removed == 0;
  return change;
}

void ServedIndex::Save() {
  const std::lock_guard lock(changing_);
  if (saved_) return;
  SaveIndex(env_, file_, index_->Snapshot(), IfExists::kReplace);
  saved_ = true;
}

nlohmann::json ServedIndex::ToJson() const {
  const IndexSnapshot now = index_->Snapshot();
  return {{"name", name_},
          {"codes", now.size()},
          {"bits", now.bits()},
          {"bytes_per_code", BytesPerCode(now.bits())},
          {"max_id", index_->max_id()},
          {"saved", saved_.load()}};
}

}  // namespace bitpool
