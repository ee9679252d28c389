#include "bitpool/io/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxRank = 8;

struct NpyDescription {
  std::string descr;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

// Reads the header, a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape':
// (3, 4), }.
class HeaderParser {
 public:
  HeaderParser(const std::string& file, std::string_view text, size_t offset)
      : file_(file), text_(text), offset_(offset) {}

  NpyDescription Parse() {
    NpyDescription description;
    bool has_descr = false, has_order = false, has_shape = false;
    Expect('{');
    while (!Accept('}')) {
      const std::string key = QuotedString();
      Expect(':');
      if (key == "descr" && !has_descr) {
        if (Peek() != '\'' && Peek() != '"') {
          throw Error(ErrorCode::kUnsupported, file_,
                      fmt::format("offset {}: 'descr' is not a plain type (a structured array?), "
                                  "expected one such as '<f4'",
                                  offset_ + position_));
        }
        description.descr = QuotedString();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        description.fortran_order = Boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        description.shape = Tuple();
        has_shape = true;
      } else {
        Fail(fmt::format("unexpected key '{}'", key));
      }
      if (!Accept(',') && Peek() != '}') Fail("expected ',' or '}'");
    }
    if (!has_descr || !has_order || !has_shape)
      Fail("expected the keys 'descr', 'fortran_order' and 'shape'");
    if (Peek() != '\0') Fail("expected nothing after the dictionary");
    return description;
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const {
    throw Error(ErrorCode::kCorrupt, file_,
                fmt::format("offset {}: npy header: {}", offset_ + position_, problem));
  }

  // The next letter that is not white space, or 0 at the end.
  char Peek() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n'))
      ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool Accept(char wanted) {
    if (Peek() != wanted) return false;
    ++position_;
    return true;
  }

  void Expect(char wanted) {
    if (!Accept(wanted)) Fail(fmt::format("expected '{}'", wanted));
  }

  std::string QuotedString() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') Fail("expected a quoted word");
    const size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) Fail("a quoted word does not end");
    std::string word(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return word;
  }

  bool Boolean() {
    Peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return value;
      }
    }
    Fail("expected True or False");
  }

  std::vector<uint64_t> Tuple() {
    std::vector<uint64_t> numbers;
    Expect('(');
    while (!Accept(')')) {
      Peek();
      uint64_t number = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + position_, text_.data() + text_.size(), number);
      if (error != std::errc()) Fail("expected a dimension");
      position_ = static_cast<size_t>(end - text_.data());
      numbers.push_back(number);
      if (numbers.size() > kMaxRank) Fail(fmt::format("more than {} dimensions", kMaxRank));
      if (!Accept(',') && Peek() != ')') Fail("expected ',' or ')'");
    }
    return numbers;
  }

  const std::string& file_;
  std::string_view text_;
  size_t offset_;
  size_t position_ = 0;
};

DType ParseType(const std::string& file, const std::string& descr) {
  const std::optional<DType> dtype =
      descr.size() > 1 ? DTypeFromName(std::string_view(descr).substr(1)) : std::nullopt;
  const bool little = dtype && (descr[0] == '<' || (descr[0] == '|' && DTypeSize(*dtype) == 1));
  if (!little) {
    throw Error(
        ErrorCode::kUnsupported, file,
        fmt::format("element type '{}': expected little-endian f2, f4, f8, u1, i4, i8, u4 or u8{}",
                    descr, descr.starts_with('>') ? " (this file is big-endian)" : ""));
  }
  return *dtype;
}

struct Preamble {
  size_t text_offset;
  size_t text_length;
};

// Magic, version and the length of the header's text.
Preamble ReadPreamble(const FileView& view) {
  const std::span<const std::byte> bytes = view.bytes();
  const auto fail = [&](size_t offset, std::string_view problem) {
    throw Error(ErrorCode::kCorrupt, view.name(), fmt::format("offset {}: {}", offset, problem));
  };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    fail(0, "not an npy file");
  const int major = std::to_integer<int>(bytes[6]);
  if (major < 1 || major > 3) {
    throw Error(ErrorCode::kUnsupported, view.name(),
                fmt::format("offset 6: npy version {}, expected 1, 2 or 3", major));
  }
  Preamble preamble = {};
  if (major == 1) {
    uint16_t length = 0;
    std::memcpy(&length, bytes.data() + 8, sizeof(length));
    preamble = {.text_offset = 10, .text_length = length};
  } else {
    if (bytes.size() < 12) fail(8, "the file ends inside the header");
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + 8, sizeof(length));
    preamble = {.text_offset = 12, .text_length = length};
  }
  if (preamble.text_length > bytes.size() - preamble.text_offset) {
    fail(8, fmt::format("a header of {} bytes does not fit into the file", preamble.text_length));
  }
  return preamble;
}

}  // namespace

SampleFile ParseNpy(const std::shared_ptr<const FileView>& view) {
  const Preamble preamble = ReadPreamble(*view);
  const std::string_view text(
      reinterpret_cast<const char*>(view->bytes().data()) + preamble.text_offset,
      preamble.text_length);
  const NpyDescription description = HeaderParser(view->name(), text, preamble.text_offset).Parse();
  SampleLayout layout;
  layout.dtype = ParseType(view->name(), description.descr);
  if (description.fortran_order) {
    throw Error(ErrorCode::kUnsupported, view->name(),
                "the array is in Fortran order, expected C order (numpy.ascontiguousarray)");
  }
  if (description.shape.empty()) {
    throw Error(ErrorCode::kUnsupported, view->name(), "a single number, expected an array");
  }
  layout.count = description.shape[0];
  layout.sample_shape.assign(description.shape.begin() + 1, description.shape.end());
  const std::optional<uint64_t> dimension = CheckedProduct(layout.sample_shape);
  const std::optional<uint64_t> stride =
      dimension ? CheckedProduct(*dimension, DTypeSize(layout.dtype)) : std::nullopt;
  const std::optional<uint64_t> length =
      stride ? CheckedProduct(layout.count, *stride) : std::nullopt;
  layout.base = preamble.text_offset + preamble.text_length;
  const uint64_t present = view->bytes().size() - layout.base;
  if (!length || *length != present) {
    throw Error(
        ErrorCode::kCorrupt, view->name(),
        fmt::format("offset {}: the shape ({}) of {} does not make the {} bytes that follow",
                    layout.base, fmt::join(description.shape, ", "), DTypeName(layout.dtype),
                    present));
  }
  layout.stride = *stride;
  return {view, layout};
}

std::string NpyHeader(DType dtype, std::span<const uint64_t> shape) {
  std::string header(kMagic);
  header += std::string("\x01\x00", 2);
  const std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                  DTypeSize(dtype) == 1 ? '|' : '<', DTypeName(dtype), fmt::join(shape, ", "),
                  shape.size() == 1 ? "," : "");
  constexpr size_t kPrefix = 10;
  const size_t total =
      (kPrefix + text.size() + 1 + kNpyHeaderBytes - 1) / kNpyHeaderBytes * kNpyHeaderBytes;
  const size_t length = total - kPrefix;
  header += static_cast<char>(length & 0xff);
  header += static_cast<char>(length >> 8);
  header += text;
  header.append(total - header.size() - 1, ' ');
  header += '\n';
  return header;
}

}  // namespace bitpool
