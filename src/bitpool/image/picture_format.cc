#include "bitpool/image/picture_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

using namespace std::string_view_literals;

constexpr size_t kLookedAt = 4096;  // an SVG drawing may begin with long comments

constexpr PictureFormat kJpeg = {"jpeg", "jpegload_buffer"};
constexpr PictureFormat kPng = {"png", "pngload_buffer"};
constexpr PictureFormat kWebp = {"webp", "webpload_buffer"};
constexpr PictureFormat kTiff = {"tiff", "tiffload_buffer"};
constexpr PictureFormat kGif = {"gif", "gifload_buffer"};
constexpr PictureFormat kHeic = {"heic", "heifload_buffer"};
constexpr PictureFormat kAvif = {"avif", "heifload_buffer"};

struct Magic {
  std::string_view bytes;
  PictureFormat format;
};

constexpr std::array kAccepted = {
    Magic{"\xff\xd8\xff"sv, kJpeg}, Magic{"\x89PNG\r\n\x1a\n"sv, kPng},
    Magic{"GIF87a"sv, kGif},        Magic{"GIF89a"sv, kGif},
    Magic{"II*\0"sv, kTiff},        Magic{"MM\0*"sv, kTiff},
    Magic{"II+\0"sv, kTiff},        Magic{"MM\0+"sv, kTiff},
};

struct Refused {
  std::string_view bytes;
  std::string_view what;
};

// What users may take for a picture, to tell them what they have.
constexpr std::array kRefused = {
    Refused{"%PDF"sv, "a PDF document"},
    Refused{"%!PS"sv, "a PostScript document"},
    Refused{"BM"sv, "a BMP picture"},
    Refused{"8BPS"sv, "a Photoshop document"},
    Refused{"\xff\x0a"sv, "a JPEG XL picture"},
    Refused{"\0\0\0\x0cJXL "sv, "a JPEG XL picture"},
    Refused{"\0\0\0\x0cjP  "sv, "a JPEG 2000 picture"},
    Refused{"\xff\x4f\xff\x51"sv, "a JPEG 2000 picture"},
    Refused{"PK\x03\x04"sv, "a ZIP archive"},
    Refused{"\x1f\x8b"sv, "gzip data"},
    Refused{"RIFF"sv, "a RIFF file other than WebP"},
};

bool IsText(std::string_view begin) {
  return std::all_of(begin.begin(), begin.end(), [](char c) {
    return (c >= ' ' && c != '\x7f') || c == '\n' || c == '\r' || c == '\t';
  });
}

std::string FirstBytes(std::string_view begin) {
  std::string text;
  for (const char c : begin.substr(0, 8)) {
    text += fmt::format(" {:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

std::string DescribeRefused(std::string_view begin) {
  for (const Refused& refused : kRefused) {
    if (begin.starts_with(refused.bytes)) return std::string(refused.what);
  }
  if (begin.substr(0, 12).find("ftyp") == 4) return "a video or another kind of ISO media file";
  const bool markup = begin.find_first_of('<') != std::string_view::npos;
  if (markup && begin.find("<svg") != std::string_view::npos) return "an SVG drawing";
  if (IsText(begin)) return "text";
  return "an unknown kind of file that begins with" + FirstBytes(begin);
}

// HEIC and AVIF share a container and differ by its brands: a length (4 bytes), "ftyp", the major
// brand, a version and the compatible brands, 4 bytes each.
const PictureFormat* HeifFormat(std::string_view begin) {
  if (begin.size() < 12 || begin.substr(4, 4) != "ftyp") return nullptr;
  size_t length = 0;
  for (const char c : begin.substr(0, 4)) length = length << 8 | static_cast<unsigned char>(c);
  const std::string_view brands = begin.substr(0, std::min(length, begin.size()));
  for (size_t at = 8; at + 4 <= brands.size(); at += at == 8 ? 8 : 4) {
    const std::string_view brand = brands.substr(at, 4);
    if (brand == "avif" || brand == "avis") return &kAvif;
    if (brand == "heic" || brand == "heix" || brand == "heim" || brand == "heis") return &kHeic;
  }
  return nullptr;
}

}  // namespace

PictureFormat SniffFormat(std::span<const std::byte> bytes) {
  if (bytes.empty()) throw Error(ErrorCode::kCorrupt, "empty file");
  const std::string_view begin(reinterpret_cast<const char*>(bytes.data()),
                               std::min(bytes.size(), kLookedAt));
  for (const Magic& magic : kAccepted) {
    if (begin.starts_with(magic.bytes)) return magic.format;
  }
  if (begin.starts_with("RIFF") && begin.substr(0, 12).ends_with("WEBP")) return kWebp;
  if (const PictureFormat* heif = HeifFormat(begin)) return *heif;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{}; expected a JPEG, PNG, WebP, TIFF, GIF, HEIC or AVIF picture",
                          DescribeRefused(begin)));
}

}  // namespace bitpool
