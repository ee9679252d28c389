#include "bitpool/features/cnn_extractor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/dnn.hpp>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/networks/onnx_check.h"

namespace bitpool {
namespace {

// OpenCV runs in one thread, since pictures run in parallel, and says what is wrong by exceptions
// only.
void PrepareOpenCv() {
  static std::once_flag once;
  std::call_once(once, [] {
    cv::setNumThreads(1);
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    cv::redirectError([](int, const char*, const char*, const char*, int, void*) { return 0; });
  });
}

std::vector<uchar> Bytes(std::span<const std::byte> bytes) {
  const auto* first = reinterpret_cast<const uchar*>(bytes.data());
  return {first, first + bytes.size()};
}

// D×n out of the maps {1, D, height, width}, or a vector {1, D}.
MatrixF ColumnsOf(const cv::Mat& output) {
  if (output.dims < 2 || output.size[0] != 1 || output.size[1] < 1 || output.type() != CV_32F) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the layer gives an array of {} dimensions; expected maps or a vector",
                            output.dims));
  }
  const Index maps = output.size[1];
  const Index positions = static_cast<Index>(output.total()) / maps;
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(output.ptr<float>(), maps, positions);
}

// Sizes of Caffe's layers that OpenCV divides by without looking: a 0 there would end the process.
constexpr std::array<std::string_view, 9> kDivisors = {"num_output", "kernel_size", "kernel_h",
                                                       "kernel_w",   "stride",      "stride_h",
                                                       "stride_w",   "group",       "dilation"};

// The next word or symbol of a text in the format of Protocol Buffers, taken off it; empty at the
// end.
std::string_view TakeToken(std::string_view& text) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '+';
  };
  while (!text.empty()) {
    if (text.front() == '#') {  // a comment
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else if (std::isspace(static_cast<unsigned char>(text.front())) != 0) {
      text.remove_prefix(1);
    } else {
      break;
    }
  }
  size_t length = 0;
  while (length < text.size() && is_word(text[length])) ++length;
  if (length == 0 && !text.empty()) length = 1;
  const std::string_view token = text.substr(0, length);
  text.remove_prefix(length);
  return token;
}

void RequireNoZeroSizes(std::string_view definition) {
  while (!definition.empty()) {
    const std::string_view name = TakeToken(definition);
    if (std::ranges::find(kDivisors, name) == kDivisors.end()) continue;
    std::string_view rest = definition;
    if (TakeToken(rest) != ":") continue;
    const std::string number(TakeToken(rest));
    if (std::strtol(number.c_str(), nullptr, 0) < 1) {
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("{}: expected 1 or more, found \"{}\"", name, number));
    }
  }
}

cv::dnn::Net ReadNetwork(const std::vector<uchar>& definition, const std::vector<uchar>& weights) {
  if (weights.empty()) {
    RequireWholeTensors(std::as_bytes(std::span(definition)));
  } else {
    RequireNoZeroSizes({reinterpret_cast<const char*>(definition.data()), definition.size()});
  }
  try {
    cv::dnn::Net net = weights.empty() ? cv::dnn::readNetFromONNX(definition)
                                       : cv::dnn::readNetFromCaffe(definition, weights);
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    if (!net.empty()) return net;
  } catch (const cv::Exception& error) {
    throw Error(ErrorCode::kCorrupt, fmt::format("not a network that can be read ({})", error.err));
  } catch (const std::exception& error) {  // what OpenCV's reader comes upon in damaged files
    throw Error(ErrorCode::kCorrupt,
                fmt::format("not a network that can be read ({})", error.what()));
  }
  throw Error(ErrorCode::kCorrupt, "not a network that can be read: it has no layers");
}

// What OpenCV puts before the names of ONNX's layers.
constexpr std::array<std::string_view, 2> kOnnxPrefixes = {"onnx_node!", "onnx_node_output_0!"};

// What OpenCV calls a layer of this name.
std::string LayerOf(cv::dnn::Net& net, const std::string& name) {
  if (net.getLayerId(name) >= 0) return name;
  for (const std::string_view prefix : kOnnxPrefixes) {
    std::string full = std::string(prefix) + name;
    if (net.getLayerId(full) >= 0) return full;
  }
  throw Error(ErrorCode::kInvalidArgument, fmt::format("the network has no layer \"{}\"", name));
}

}  // namespace

class CnnExtractor::Networks {
 public:
  explicit Networks(const CnnFiles& files)
      : definition_(Bytes(files.definition)), weights_(Bytes(files.weights)) {}

  // Runs body(net) with a network that nobody else uses at the same time.
  template <class Body>
  auto Use(const Body& body) {
    cv::dnn::Net net = Take();
    auto result = body(net);
    const std::lock_guard lock(mutex_);
    idle_.push_back(net);
    return result;
  }

 private:
  cv::dnn::Net Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        cv::dnn::Net net = idle_.back();
        idle_.pop_back();
        return net;
      }
    }
    return ReadNetwork(definition_, weights_);
  }

  std::vector<uchar> definition_, weights_;
  std::mutex mutex_;
  std::vector<cv::dnn::Net> idle_;
};

void CnnOptions::Validate() const {
  if (layer.empty()) throw Error(ErrorCode::kInvalidArgument, "expected the name of a layer");
  if (size < 1 || size > 8192) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("size of the network's input: expected 1 to 8192 pixels, got {}", size));
  }
  const bool finite = std::isfinite(mean[0]) && std::isfinite(mean[1]) && std::isfinite(mean[2]);
  if (!finite || !std::isfinite(scale) || scale == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "mean and scale of the network's input: expected finite numbers and no scale of 0");
  }
}

CnnExtractor::CnnExtractor(const CnnFiles& files, const CnnOptions& options) : options_(options) {
  options.Validate();
  PrepareOpenCv();
  networks_ = std::make_unique<Networks>(files);
  options_.layer = networks_->Use([&](cv::dnn::Net& net) { return LayerOf(net, options.layer); });
  const MatrixF columns = Columns({.width = 1, .height = 1, .pixels = {0, 0, 0}});
  dimension_ = columns.rows();
  positions_ = columns.cols();
}

CnnExtractor::~CnnExtractor() = default;

std::string OutputLayer(const CnnFiles& files) {
  PrepareOpenCv();
  const std::vector<std::string> ends =
      ReadNetwork(Bytes(files.definition), Bytes(files.weights)).getUnconnectedOutLayersNames();
  if (ends.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the network ends in {} layers; name one of {}", ends.size(),
                            fmt::join(ends, ", ")));
  }
  for (const std::string_view prefix : kOnnxPrefixes) {
    if (ends[0].starts_with(prefix)) return ends[0].substr(prefix.size());
  }
  return ends[0];
}

MatrixF CnnExtractor::Extract(const Picture& picture) const { return Columns(picture); }

MatrixF CnnExtractor::Columns(const Picture& picture) const {
  const auto pixels = static_cast<size_t>(picture.width * picture.height);
  if (pixels == 0 || picture.pixels.size() != 3 * pixels) {
    throw Error(ErrorCode::kInvalidArgument, "expected a picture of width × height × 3 bytes");
  }
  // OpenCV only reads it.
  const cv::Mat view(static_cast<int>(picture.height), static_cast<int>(picture.width), CV_8UC3,
                     const_cast<uint8_t*>(picture.pixels.data()));
  const cv::Scalar mean = options_.rgb
                              ? cv::Scalar(options_.mean[2], options_.mean[1], options_.mean[0])
                              : cv::Scalar(options_.mean[0], options_.mean[1], options_.mean[2]);
  try {
    return networks_->Use([&](cv::dnn::Net& net) {
      net.setInput(cv::dnn::blobFromImage(view, options_.scale, {options_.size, options_.size},
                                          mean, !options_.rgb));
      return ColumnsOf(net.forward(options_.layer));
    });
  } catch (const cv::Exception& error) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the network cannot take pictures of {}×{} pixels ({})", options_.size,
                            options_.size, error.err));
  }
}

}  // namespace bitpool
