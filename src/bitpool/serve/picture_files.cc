#include "bitpool/serve/picture_files.h"

#include <fmt/format.h>

#include "bitpool/image/decode.h"
#include "bitpool/serve/parameters.h"

namespace bitpool {

CataloguedPicture RequirePicture(const ServedLibrary& served, const std::string& id) {
  std::optional<CataloguedPicture> picture = served.library().Find(NumberSegment(id, "picture"));
  if (picture) return *std::move(picture);
  throw ProblemError(404, "not_found",
                     fmt::format("{}: there is no picture {}", served.name(), id));
}

std::filesystem::path PathOf(const ServedLibrary& served, const CataloguedPicture& picture) {
  return InContext(served.name(), [&] { return served.roots().Locate(picture.path); });
}

std::vector<std::byte> ReadOriginal(const ServedLibrary& served, const CataloguedPicture& picture) {
  return served.env().Read(PathOf(served, picture), DecodeOptions().max_bytes);
}

ProblemError PictureProblem(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kResources:
      return {413, "too_large", error.reason()};
    case ErrorCode::kCorrupt:
      return {422, "damaged_picture", error.reason()};
    case ErrorCode::kUnsupported:
    case ErrorCode::kInvalidArgument:
      return {422, "unsupported_picture", error.reason()};
    default:
      throw error;
  }
}

}  // namespace bitpool
