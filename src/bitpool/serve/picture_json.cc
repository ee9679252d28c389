#include "bitpool/serve/picture_json.h"

#include <fmt/format.h>

#include "bitpool/base/shown_text.h"
#include "bitpool/http/target.h"
#include "bitpool/serve/parameters.h"

namespace bitpool {

std::string ContentTag(const CataloguedPicture& picture) {
  return fmt::format("{:016x}", picture.content_hash);
}

nlohmann::json PictureJson(const std::string& library, const CataloguedPicture& picture) {
  const size_t slash = picture.path.rfind('/');
  const bool top = slash == std::string::npos;
  const std::string link =
      fmt::format("/v1/libraries/{}/pictures/{}/", PercentEncode(library), picture.id);
  const std::string version = "?v=" + ContentTag(picture);
  return {{"id", picture.id},
          {"path", ShownName(picture.path)},
          {"folder", top ? "" : ShownName(picture.path.substr(0, slash))},
          {"name", ShownName(top ? picture.path : picture.path.substr(slash + 1))},
          {"width", picture.width},
          {"height", picture.height},
          {"bytes", picture.size},
          {"modified", TimeText(picture.modified_ns)},
          {"failure",
           picture.failure.empty() ? nlohmann::json() : nlohmann::json(ShownName(picture.failure))},
          {"thumbnail", link + "thumbnail" + version},
          {"preview", link + "preview" + version},
          {"original", link + "original"}};
}

}  // namespace bitpool
