#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/image/decode.h"
#include "bitpool/pictures/picture_coder.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {

// How pictures become codes. The functions are called from many threads.
struct PictureEncoding {
  int bits = 0;
  std::string digest;  // names the codes: only those of equal digests can be compared
  // Throws Error for a picture that cannot be encoded.
  std::function<PictureCode(std::span<const std::byte>)> encode;
  // A small JPEG of the picture, or none.
  std::function<std::vector<std::byte>(std::span<const std::byte>)> thumbnail;
};

// What becomes of a picture that seems to be new or changed.
enum class PictureFate {
  kPending,     // a stop came first
  kGone,        // was removed since it was found
  kUnreadable,  // may be read another time
  kTouched,     // has the content it had
  kFailed,      // is recorded without a code
  kEncoded,
};

struct ExaminedPicture {
  PictureFate fate = PictureFate::kPending;
  CataloguedPicture picture;  // as it is to be recorded, except for the id
  std::string reason;         // why it is unreadable
  std::vector<std::byte> thumbnail;
};

// Pictures that were examined elsewhere, for example on other machines.
struct ExaminedElsewhere {
  std::string digest = {};  // of the encoding they were examined with
  // What became of a picture; nothing where that is not known and the picture has to be read.
  // Called from many threads; may be empty.
  std::function<std::optional<ExaminedPicture>(const FoundPicture&)> find = {};
};

// What to bring a library up to date with.
struct LibraryUpdate {
  std::filesystem::path root;  // the folder of pictures
  // Further folders, absolute, and what is left out; the library records both.
  std::vector<std::string> folders = {};
  std::vector<std::string> exclude = {};
  // What is there, and what could not be looked at, as FindPictures has them for `root`; paths in
  // further folders are absolute. Files of libraries are left out.
  std::vector<FoundPicture> found;
  std::vector<FailedPicture> unreadable = {};
  std::function<std::vector<std::byte>(const FoundPicture&)> read;
  PictureEncoding encoding;
  ExaminedElsewhere elsewhere = {};                // by the same encoding
  uint64_t max_bytes = DecodeOptions().max_bytes;  // larger files fail without being read
  size_t batch = 64;                               // pictures between two commits
  // Remove all pictures of a folder even when nothing at all is found in it any more.
  bool allow_empty = false;
  // Called with every failure as it comes, on the thread that updates; may be empty.
  std::function<void(const FailedPicture&)> on_failure = {};
  // Called with what this waits for, once each time: a database that is away, or other processes;
  // may be empty.
  std::function<void(const std::string&)> on_wait = {};

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// What the catalogue had of a picture before.
struct KnownPicture {
  uint64_t id = 0;
  uint64_t size = 0;
  int64_t modified_ns = 0;
  uint64_t content_hash = 0;
  bool can_be_seen = false;
  bool has_hash = false;
  bool found = false;
};

// Whether a picture was decoded, so that there is a thumbnail to be made of it, although it may be
// too plain for a code.
bool CanBeSeen(const CataloguedPicture& picture);

// Reads a picture and, if its content is not the one that is known, encodes it. `known` may be
// null. Throws only what shows a mistake in the program.
ExaminedPicture ExaminePicture(const LibraryUpdate& update, const FoundPicture& found,
                               const KnownPicture* known);

// The thumbnail of a picture that is known and should not have changed. None where it cannot be
// read now, or changed after all, which the next update sees.
std::vector<std::byte> ThumbnailOfUnchanged(const LibraryUpdate& update, const FoundPicture& found,
                                            const KnownPicture& known);

}  // namespace bitpool
