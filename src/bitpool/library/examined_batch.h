#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/library/picture_examination.h"

namespace bitpool {

// Puts the pictures that were encoded, or have failed, into a batch, and gives them their ids.
// Returns the ids that are no longer in use.
std::vector<uint64_t> PutExamined(CatalogueBatch& batch, std::vector<ExaminedPicture>& pictures);

}  // namespace bitpool
