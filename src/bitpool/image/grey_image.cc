#include "bitpool/image/grey_image.h"

#include <algorithm>
#include <cmath>

namespace bitpool {
namespace {

// The old pixels that a new one is made of, and their weights, which add up to 1.
struct Blend {
  Index first = 0;
  std::vector<float> weights;
};

std::vector<Blend> BlendsOf(Index from, Index to) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(1.0, step);  // half of the triangle's base
  std::vector<Blend> blends(static_cast<size_t>(to));
  for (Index i = 0; i < to; ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * step - 0.5;
    const auto first = std::max<Index>(0, std::lround(std::floor(middle - reach)) + 1);
    const auto last = std::min<Index>(from - 1, std::lround(std::ceil(middle + reach)) - 1);
    Blend& blend = blends[static_cast<size_t>(i)];
    blend.first = first;
    double sum = 0;
    for (Index at = first; at <= last; ++at) {
      const double weight = std::max(0.0, 1 - std::abs(static_cast<double>(at) - middle) / reach);
      blend.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : blend.weights) weight = static_cast<float>(weight / sum);
  }
  return blends;
}

GreyImage ResizeAcross(const GreyImage& image, Index width) {
  const std::vector<Blend> blends = BlendsOf(image.width, width);
  GreyImage result = {.width = width, .height = image.height, .values = {}};
  result.values.resize(static_cast<size_t>(width * image.height));
  for (Index y = 0; y < image.height; ++y) {
    const float* row = image.values.data() + y * image.width;
    for (Index x = 0; x < width; ++x) {
      const Blend& blend = blends[static_cast<size_t>(x)];
      float sum = 0;
      for (size_t i = 0; i < blend.weights.size(); ++i) {
        sum += blend.weights[i] * row[blend.first + static_cast<Index>(i)];
      }
      result.at(x, y) = sum;
    }
  }
  return result;
}

GreyImage ResizeDown(const GreyImage& image, Index height) {
  const std::vector<Blend> blends = BlendsOf(image.height, height);
  GreyImage result = {.width = image.width, .height = height, .values = {}};
  result.values.resize(static_cast<size_t>(image.width * height));
  for (Index y = 0; y < height; ++y) {
    const Blend& blend = blends[static_cast<size_t>(y)];
    float* out = result.values.data() + y * image.width;
    for (size_t i = 0; i < blend.weights.size(); ++i) {
      const float* row = image.values.data() + (blend.first + static_cast<Index>(i)) * image.width;
      for (Index x = 0; x < image.width; ++x) out[x] += blend.weights[i] * row[x];
    }
  }
  return result;
}

}  // namespace

GreyImage ToGreyImage(const Picture& picture) {
  RequirePicture(picture);
  GreyImage grey = {.width = picture.width, .height = picture.height, .values = {}};
  grey.values.reserve(picture.pixels.size() / 3);
  for (size_t i = 0; i < picture.pixels.size(); i += 3) {
    grey.values.push_back(0.299F * static_cast<float>(picture.pixels[i]) +
                          0.587F * static_cast<float>(picture.pixels[i + 1]) +
                          0.114F * static_cast<float>(picture.pixels[i + 2]));
  }
  return grey;
}

GreyImage Resize(const GreyImage& image, Index width, Index height) {
  return ResizeDown(ResizeAcross(image, width), height);
}

GreyImage Smooth(const GreyImage& image) {
  GreyImage across = image, both = image;
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      const Index left = std::max<Index>(x - 1, 0), right = std::min(x + 1, image.width - 1);
      across.at(x, y) = 0.25F * (image.at(left, y) + image.at(right, y)) + 0.5F * image.at(x, y);
    }
  }
  for (Index y = 0; y < image.height; ++y) {
    const Index above = std::max<Index>(y - 1, 0), below = std::min(y + 1, image.height - 1);
    for (Index x = 0; x < image.width; ++x) {
      both.at(x, y) = 0.25F * (across.at(x, above) + across.at(x, below)) + 0.5F * across.at(x, y);
    }
  }
  return both;
}

}  // namespace bitpool
