#include "bitpool/serve/followed_codes.h"

#include <map>
#include <vector>

namespace bitpool {

IndexSnapshot FollowedCodes::BringTo(const LibrarySnapshot& library) {
  const CatalogueSnapshot& catalogue = library.catalogue();
  const bool same_length = index_ && index_->bits() == library.index().bits();
  if (!same_length || !ApplyChanges(catalogue)) TakeAll(library.index());
  generation_ = catalogue.generation();
  return index_->Snapshot();
}

bool FollowedCodes::ApplyChanges(const CatalogueSnapshot& catalogue) {
  std::map<int64_t, std::vector<uint8_t>> last;  // the last change of each id; empty: removed
  const bool known =
      catalogue.ForEachChange(generation_, [&](uint64_t id, std::span<const uint8_t> code) {
        last[static_cast<int64_t>(id)].assign(code.begin(), code.end());
      });
  if (!known) return false;
  std::vector<int64_t> gone, come;
  std::vector<uint8_t> rows;
  const IndexSnapshot now = index_->Snapshot();
  for (const auto& [id, code] : last) {
    if (code.empty()) {
      gone.push_back(id);
    } else if (!now.Contains(id)) {  // an id stands for the same code for ever
      come.push_back(id);
      rows.insert(rows.end(), code.begin(), code.end());
    }
  }
  index_->Change(gone, BinaryCodes(index_->bits(), std::move(rows)), come);
  return true;
}

void FollowedCodes::TakeAll(const IndexSnapshot& codes) {
  const auto segment = codes.Compacted();
  const size_t bytes = BytesPerCode(codes.bits());
  std::vector<int64_t> ids(segment->size());
  std::vector<uint8_t> rows(segment->size() * bytes);
  for (size_t slot = 0; slot < ids.size(); ++slot) {
    ids[slot] = segment->id(slot);
    segment->CopyCode(slot, &rows[slot * bytes]);
  }
  auto index =
      std::make_unique<CodeIndex>(IndexOptions{.bits = codes.bits(), .kind = IndexKind::kAuto});
  index->Add(BinaryCodes(codes.bits(), std::move(rows)), ids);
  index_ = std::move(index);
}

}  // namespace bitpool
