#include "bitpool/library/library_index.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/index/index_file.h"

namespace bitpool {
namespace {

void RequireLength(const LibraryFolder& folder, uint64_t id, size_t bytes, int bits) {
  if (bytes == BytesPerCode(bits)) return;
  throw Error(ErrorCode::kCorrupt, folder.name(),
              fmt::format("picture {} has a code of {} bytes: expected {} bits", id, bytes, bits));
}

}  // namespace

LibraryIndex::LibraryIndex(Env& env, LibraryFolder folder)
    : env_(env), folder_(std::move(folder)) {}

IndexSnapshot LibraryIndex::BringTo(const CatalogueSnapshot& catalogue, const LibraryFacts& facts) {
  // The file of a shared library that the codes were in may be removed when there is a newer one.
  const bool newer_file = folder_.is_shared() && facts.index_digest != file_digest_;
  if (newer_file || !Follow(catalogue, facts)) {
    if (auto opened = OpenFile(catalogue, facts)) {
      index_ = std::move(opened);
      file_digest_ = facts.index_digest;
    } else if (!newer_file || !Follow(catalogue, facts)) {
      index_ = ReadAll(catalogue, facts);
      file_digest_.clear();
    }
  }
  generation_ = catalogue.generation();
  coder_ = facts.coder;
  return index_->Snapshot();
}

void LibraryIndex::DistrustFile() {
  index_.reset();
  damaged_digest_ = file_digest_;
}

bool LibraryIndex::Follow(const CatalogueSnapshot& catalogue, const LibraryFacts& facts) {
  if (!index_ || coder_ != facts.coder || index_->bits() != facts.bits) return false;
  try {
    return ApplyChanges(*index_, catalogue, generation_);
  } catch (const Error&) {
    return false;  // reading everything shows what is wrong
  }
}

std::unique_ptr<CodeIndex> LibraryIndex::OpenFile(const CatalogueSnapshot& catalogue,
                                                  const LibraryFacts& facts) const {
  if (facts.index_digest.empty() || facts.index_digest == damaged_digest_) return nullptr;
  try {
    const IndexFile file = IndexFile::Open(env_, folder_.index(facts.index_digest));
    if (file.digest() != facts.index_digest) return nullptr;
    std::unique_ptr<CodeIndex> index = file.Load(false, RunContext({.threads = 1}));
    if (index->bits() != facts.bits) return nullptr;
    return ApplyChanges(*index, catalogue, facts.index_generation) ? std::move(index) : nullptr;
  } catch (const Error&) {
    return nullptr;  // whatever is wrong with the copy, the catalogue has the codes
  }
}

std::unique_ptr<CodeIndex> LibraryIndex::ReadAll(const CatalogueSnapshot& catalogue,
                                                 const LibraryFacts& facts) const {
  std::vector<uint8_t> rows;
  std::vector<int64_t> ids;
  catalogue.ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (picture.code.empty()) return;
    RequireLength(folder_, picture.id, picture.code.size(), facts.bits);
    rows.insert(rows.end(), picture.code.begin(), picture.code.end());
    ids.push_back(static_cast<int64_t>(picture.id));
  });
  // Flat: a library has at most millions of codes, which are scanned in milliseconds, and the same
  // codes make the same file.
  auto index = std::make_unique<CodeIndex>(
      IndexOptions{.bits = facts.bits, .kind = IndexKind::kFlat, .threads = 1});
  index->Add(BinaryCodes(facts.bits, std::move(rows)), ids);
  return index;
}

// False when the catalogue no longer knows the changes.
bool LibraryIndex::ApplyChanges(CodeIndex& index, const CatalogueSnapshot& catalogue,
                                uint64_t since) const {
  std::map<int64_t, std::vector<uint8_t>> added;
  std::vector<int64_t> removed;
  const bool known =
      catalogue.ForEachChange(since, [&](uint64_t id, std::span<const uint8_t> code) {
        if (code.empty()) {
          if (added.erase(static_cast<int64_t>(id)) == 0) {
            removed.push_back(static_cast<int64_t>(id));
          }
          return;
        }
        RequireLength(folder_, id, code.size(), index.bits());
        added.insert_or_assign(static_cast<int64_t>(id),
                               std::vector<uint8_t>(code.begin(), code.end()));
      });
  if (!known) return false;
  if (added.empty() && removed.empty()) return true;
  BinaryCodes codes(index.bits());
  std::vector<int64_t> ids;
  for (const auto& [id, code] : added) {
    codes.Append(code);
    ids.push_back(id);
  }
  index.Change(removed, codes, ids);
  return true;
}

std::optional<Index> CodesInSoundFile(Env& env, const LibraryFolder& folder,
                                      const LibraryFacts& facts, const RunContext& context) {
  if (facts.index_digest.empty()) return std::nullopt;
  try {
    const IndexFile file = IndexFile::Open(env, folder.index(facts.index_digest));
    if (file.digest() != facts.index_digest) return std::nullopt;
    const std::unique_ptr<CodeIndex> index = file.Load(true, context);
    if (index->bits() == facts.bits) return index->size();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
  }
  return std::nullopt;
}

}  // namespace bitpool
