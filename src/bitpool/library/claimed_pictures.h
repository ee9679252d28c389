#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/catalog/catalogue.h"
#include "bitpool/io/env.h"
#include "bitpool/library/patience.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {

// What an update of a shared library has to do, shared with the other processes that update it: all
// put what they have found on one list, and take from it until it is empty. What a dead process had
// taken is taken by another.
class ClaimedPictures {
 public:
  // `root` is the folder of pictures; `found` is put on the list, and outlives this, as the claims
  // do. `name` is for messages.
  ClaimedPictures(Env& env, std::filesystem::path root, std::string name,
                  std::span<const FoundPicture* const> found, PictureClaims& claims,
                  const Patience& patience);

  // Some pictures for this process to do. Waits while others have claimed all that are left. Empty
  // when nothing is left, or a stop was requested.
  std::vector<FoundPicture> Next(size_t most, const RunContext& context);

 private:
  FoundPicture Look(const std::string& path) const;

  Env& env_;
  std::filesystem::path root_;
  std::string name_;
  std::unordered_map<std::string, const FoundPicture*> found_;
  PictureClaims& claims_;
  const Patience& patience_;
  bool told_ = false;  // whether it was said that this waits
};

}  // namespace bitpool
