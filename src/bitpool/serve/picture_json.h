#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bitpool/catalog/catalogue.h"

namespace bitpool {

// A picture of a library as openapi.json has it, with its links.
nlohmann::json PictureJson(const std::string& library, const CataloguedPicture& picture);

// Names the bytes of a picture, for links and entity tags.
std::string ContentTag(const CataloguedPicture& picture);

}  // namespace bitpool
