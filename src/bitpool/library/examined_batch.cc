#include "bitpool/library/examined_batch.h"

#include <cstddef>

namespace bitpool {

std::vector<uint64_t> PutExamined(CatalogueBatch& batch, std::vector<ExaminedPicture>& pictures) {
  std::vector<CataloguedPicture> put;
  std::vector<ExaminedPicture*> whose;
  for (ExaminedPicture& examined : pictures) {
    if (examined.fate != PictureFate::kEncoded && examined.fate != PictureFate::kFailed) continue;
    put.push_back(examined.picture);
    whose.push_back(&examined);
  }
  const std::vector<PutResult> results = batch.PutAll(put);
  std::vector<uint64_t> gone;
  for (size_t i = 0; i < results.size(); ++i) {
    whose[i]->picture.id = results[i].id;
    if (results[i].replaced) gone.push_back(*results[i].replaced);
  }
  return gone;
}

}  // namespace bitpool
