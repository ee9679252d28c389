#include "bitpool/library/picture_examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/io/checksum.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/pictures/picture_describer.h"

namespace bitpool {
namespace {

PictureFate FateOfUnread(ErrorCode code) {
  if (code == ErrorCode::kCancelled) return PictureFate::kPending;
  return code == ErrorCode::kNotFound ? PictureFate::kGone : PictureFate::kUnreadable;
}

// Whether a thumbnail of the decoded picture is as good as one of the picture itself.
bool IsLargeEnough(const PictureCode& code) {
  const Picture& decoded = code.decoded;
  return std::max(decoded.width, decoded.height) >= kThumbnailSide ||
         (decoded.width > 0 && decoded.width == code.facts.width);
}

void MakeThumbnailOf(const PictureEncoding& encoding, std::span<const std::byte> bytes,
                     const PictureCode& code, ExaminedPicture& examined) {
  if (!encoding.thumbnail) return;
  try {
    examined.thumbnail =
        IsLargeEnough(code) ? ThumbnailOf(code.decoded) : encoding.thumbnail(bytes);
    examined.picture.perceptual_hash = HashOfThumbnail(examined.thumbnail);
  } catch (const Error&) {  // its code is what matters
  }
}

// A picture that is too plain for a code has copies all the same, which are found by their hash.
void NoteLooks(const PictureEncoding& encoding, std::span<const std::byte> bytes,
               ExaminedPicture& examined) {
  try {
    const PictureFacts facts = InspectPicture(bytes, {});
    examined.picture.width = facts.width;
    examined.picture.height = facts.height;
    MakeThumbnailOf(encoding, bytes, {}, examined);
  } catch (const Error&) {  // that it has no code is known already
  }
}

void Encode(const PictureEncoding& encoding, std::span<const std::byte> bytes,
            ExaminedPicture& examined) {
  try {
    PictureCode code = encoding.encode(bytes);
    if (code.code.size() != BytesPerCode(encoding.bits)) {
      throw Error(ErrorCode::kInternal, fmt::format("the coder gave {} bytes: expected {} bits",
                                                    code.code.size(), encoding.bits));
    }
    examined.fate = PictureFate::kEncoded;
    examined.picture.code = std::move(code.code);
    examined.picture.width = code.facts.width;
    examined.picture.height = code.facts.height;
    MakeThumbnailOf(encoding, bytes, code, examined);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {  // including those of decoding libraries
    const auto* error = dynamic_cast<const Error*>(&failure);
    if (error != nullptr && error->code() == ErrorCode::kCancelled) throw;
    examined.fate = PictureFate::kFailed;
    examined.picture.failure = failure.what();
    if (examined.picture.failure == kNoFeatures) NoteLooks(encoding, bytes, examined);
  }
}

bool HasContent(const KnownPicture* known, const CataloguedPicture& picture) {
  return known != nullptr && known->content_hash == picture.content_hash &&
         known->size == picture.size;
}

// What others found out about a picture, with what the folder says about its file.
ExaminedPicture FromElsewhere(ExaminedPicture elsewhere, ExaminedPicture here,
                              const KnownPicture* known) {
  elsewhere.picture.path = std::move(here.picture.path);
  elsewhere.picture.size = here.picture.size;
  elsewhere.picture.modified_ns = here.picture.modified_ns;
  if (HasContent(known, elsewhere.picture)) elsewhere.fate = PictureFate::kTouched;
  elsewhere.picture.perceptual_hash = HashOfThumbnail(elsewhere.thumbnail);
  return elsewhere;
}

}  // namespace

void LibraryUpdate::Validate() const {
  RequireBits(encoding.bits);
  const auto require = [](bool good, const char* expected) {
    if (!good) throw Error(ErrorCode::kInvalidArgument, expected);
  };
  require(!encoding.digest.empty(), "encoding: expected a digest");
  require(encoding.encode != nullptr, "encoding: expected a function that encodes");
  require(!elsewhere.find || elsewhere.digest == encoding.digest,
          "elsewhere: pictures that were examined with another coder");
  require(read != nullptr, "read: expected a function that reads pictures");
  require(batch > 0, "batch: expected 1 or more pictures");
}

bool CanBeSeen(const CataloguedPicture& picture) {
  return !picture.code.empty() || picture.failure == kNoFeatures;
}

ExaminedPicture ExaminePicture(const LibraryUpdate& update, const FoundPicture& found,
                               const KnownPicture* known) {
  ExaminedPicture examined;
  examined.picture.path = found.path;
  examined.picture.size = found.size;
  examined.picture.modified_ns = found.mtime_ns;
  if (found.size > update.max_bytes) {
    examined.fate = PictureFate::kFailed;
    examined.picture.failure =
        fmt::format("{} bytes, the limit for a picture is {}", found.size, update.max_bytes);
    return examined;
  }
  if (update.elsewhere.find) {
    if (auto found_out = update.elsewhere.find(found)) {
      return FromElsewhere(*std::move(found_out), std::move(examined), known);
    }
  }
  try {
    const std::vector<std::byte> bytes = update.read(found);
    examined.picture.content_hash = Checksum(bytes);
    if (HasContent(known, examined.picture)) {
      examined.fate = PictureFate::kTouched;
    } else {
      Encode(update.encoding, bytes, examined);
    }
  } catch (const Error& error) {
    examined.fate = FateOfUnread(error.code());
    examined.reason = error.MessageWithin((update.root / found.path).string());
  } catch (const std::bad_alloc&) {
    examined.fate = PictureFate::kUnreadable;
    examined.reason = "out of memory";
    examined.thumbnail.clear();  // belongs to no picture that is recorded
  }
  return examined;
}

std::vector<std::byte> ThumbnailOfUnchanged(const LibraryUpdate& update, const FoundPicture& found,
                                            const KnownPicture& known) {
  try {
    const std::vector<std::byte> bytes = update.read(found);
    if (Checksum(bytes) == known.content_hash) return update.encoding.thumbnail(bytes);
  } catch (const Error&) {  // its code is what matters
  }
  return {};
}

}  // namespace bitpool
