#include "bitpool/features/sift_extractor.h"

#include <fmt/format.h>
#include <vl/covdet.h>
#include <vl/dsift.h>
#include <vl/imopv.h>
#include <vl/sift.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "bitpool/base/error.h"
#include "bitpool/features/plain_borders.h"

// VLFeat and threads: the functions used here keep their state in the objects they are given,
// which belong to one call, and have no parallel loops. The one exception is the table of
// exponentials of vl_sift_new; see SharedSift.

namespace bitpool {
namespace {

constexpr Index kDimension = 128;
constexpr Index kMostPixels = Index{1} << 24;

// The scale space of VLFeat needs this many pixels on every side (its smallest octave).
constexpr Index kLeastSide = 16;
// Regions nearer to the border than this many times their size are left out, as vl_covdet does.
constexpr double kBorderMargin = 2;

// The patch of vl_covdet: (2 × 15 + 1)² pixels over [−7.5, 7.5]² in units of the region.
constexpr int kPatchResolution = 15;
constexpr int kPatchSide = 2 * kPatchResolution + 1;
constexpr size_t kPatchPixels = static_cast<size_t>(kPatchSide) * kPatchSide;
constexpr double kPatchExtent = 7.5;
constexpr double kPatchSmoothing = 1;
constexpr double kPatchCentre = kPatchResolution;
// The scale at which 4 places of 3 (SIFT's magnification), and half of one more on either side,
// fill the patch, in its pixels.
constexpr double kMagnification = 3;
constexpr double kPatchScale =
    kPatchExtent / (kMagnification * (4 + 1) / 2) / (kPatchExtent / kPatchResolution);

struct Deleter {
  void operator()(VlCovDet* object) const { vl_covdet_delete(object); }
  void operator()(VlSiftFilt* object) const { vl_sift_delete(object); }
  void operator()(VlDsiftFilter* object) const { vl_dsift_delete(object); }
};

template <class Object>
using Owned = std::unique_ptr<Object, Deleter>;

template <class Object>
Owned<Object> Own(Object* object) {
  if (object == nullptr) throw Error(ErrorCode::kResources, "not enough memory for a picture");
  return Owned<Object>(object);
}

// The parameters of the descriptor, which are the same for all. One object for the process, made
// once: vl_sift_new writes a table that all its objects read.
const VlSiftFilt* SharedSift() {
  static const Owned<VlSiftFilt> sift = [] {
    Owned<VlSiftFilt> made = Own(vl_sift_new(16, 16, 1, 3, 0));
    vl_sift_set_magnif(made.get(), kMagnification);
    return made;
  }();
  return sift.get();
}

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

template <class Value>
void Require(bool good, const char* field, const char* expected, Value got) {
  if (!good) Refuse(fmt::format("{}: expected {}, got {}", field, expected, got));
}

// VLFeat works on whatever it is given, and computes indices from it.
void RequirePicture(const GreyPicture& picture) {
  const Index width = picture.width, height = picture.height;
  const auto count = static_cast<Index>(picture.pixels.size());
  if (width < 1 || height < 1 || count / width != height || count % width != 0) {
    Refuse(fmt::format("a grey picture of {} × {} pixels has {} values", width, height, count));
  }
  if (count > kMostPixels) {
    Refuse(fmt::format("a picture of {} × {} pixels: expected at most {} in all; scale it down",
                       width, height, kMostPixels));
  }
  const auto bad = std::ranges::find_if_not(picture.pixels,
                                            [](float pixel) { return pixel >= 0 && pixel <= 1; });
  if (bad != picture.pixels.end()) {
    Refuse(fmt::format("pixel {}: expected a value from 0 to 1, got {}",
                       bad - picture.pixels.begin(), *bad));
  }
}

// RootSIFT in place. The Hellinger kernel of two SIFTs is the dot product of these.
void TakeRoot(float* descriptor) {
  float sum = 0;
  for (Index i = 0; i < kDimension; ++i) sum += descriptor[i];
  for (Index i = 0; i < kDimension; ++i) descriptor[i] = std::sqrt(descriptor[i] / sum);
}

bool IsZero(const float* descriptor) {
  return std::all_of(descriptor, descriptor + kDimension, [](float value) { return value == 0; });
}

// Columns one after another, of which there may be none.
MatrixF ToMatrix(const std::vector<float>& values) {
  return Eigen::Map<const MatrixF>(values.data(), kDimension,
                                   static_cast<Index>(values.size()) / kDimension);
}

VlFrameOrientedEllipse Turned(const VlFrameOrientedEllipse& frame, double angle) {
  const auto c = static_cast<float>(std::cos(angle));
  const auto s = static_cast<float>(std::sin(angle));
  VlFrameOrientedEllipse turned = frame;
  turned.a11 = frame.a11 * c + frame.a12 * s;
  turned.a21 = frame.a21 * c + frame.a22 * s;
  turned.a12 = frame.a12 * c - frame.a11 * s;
  turned.a22 = frame.a22 * c - frame.a21 * s;
  return turned;
}

// Detects and describes the regions of one picture.
class RegionDescriber {
 public:
  RegionDescriber(const HessianAffineOptions& options, const GreyPicture& picture)
      : options_(options), detector_(Own(vl_covdet_new(VL_COVDET_METHOD_HESSIAN))) {
    vl_covdet_set_first_octave(detector_.get(), options.first_octave);
    vl_covdet_set_peak_threshold(detector_.get(), options.peak_threshold);
    vl_covdet_set_edge_threshold(detector_.get(), options.edge_threshold);
    const int status = vl_covdet_put_image(detector_.get(), picture.pixels.data(),
                                           static_cast<vl_size>(picture.width),
                                           static_cast<vl_size>(picture.height));
    if (status != VL_ERR_OK) throw Error(ErrorCode::kResources, "not enough memory for a picture");
  }

  DescribedRegions Run() {
    for (const VlCovDetFeature& feature : Strongest()) {
      VlFrameOrientedEllipse adapted;
      if (vl_covdet_extract_affine_shape_for_frame(detector_.get(), &adapted, feature.frame) !=
          VL_ERR_OK) {
        continue;
      }
      if (options_.upright) {
        Add(adapted, feature.peakScore);
      } else {
        AddOriented(adapted, feature.peakScore);
      }
    }
    return {.regions = std::move(regions_), .descriptors = ToMatrix(descriptors_)};
  }

 private:
  // The regions to describe: spots, then saddles, each from the strongest response on. Chosen
  // before their shapes are found, which takes longer than detecting them.
  std::vector<VlCovDetFeature> Strongest() {
    vl_covdet_detect(detector_.get());
    vl_covdet_drop_features_outside(detector_.get(), kBorderMargin);
    const auto* found =
        static_cast<const VlCovDetFeature*>(vl_covdet_get_features(detector_.get()));
    const size_t count = vl_covdet_get_num_features(detector_.get());
    std::vector<VlCovDetFeature> features(found, found + count);
    std::ranges::stable_sort(features, std::ranges::greater(), [](const VlCovDetFeature& feature) {
      return std::pair(feature.peakScore > 0, std::abs(feature.peakScore));
    });
    features.resize(std::min(count, static_cast<size_t>(options_.max_regions)));
    return features;
  }

  void AddOriented(const VlFrameOrientedEllipse& frame, float score) {
    vl_size count = 0;
    const VlCovDetFeatureOrientation* found =
        vl_covdet_extract_orientations_for_frame(detector_.get(), &count, frame);
    // The next call writes over what was found; there are at most four.
    const std::vector<VlCovDetFeatureOrientation> orientations(found, found + count);
    for (const auto& orientation : orientations) Add(Turned(frame, orientation.angle), score);
  }

  void Add(const VlFrameOrientedEllipse& frame, float score) {
    if (vl_covdet_extract_patch_for_frame(detector_.get(), patch_.data(), kPatchResolution,
                                          kPatchExtent, kPatchSmoothing, frame) != VL_ERR_OK) {
      return;
    }
    vl_imgradient_polar_f(gradients_.data(), gradients_.data() + 1, 2, 2 * kPatchSide,
                          patch_.data(), kPatchSide, kPatchSide, kPatchSide);
    std::array<float, kDimension> descriptor = {};
    vl_sift_calc_raw_descriptor(SharedSift(), gradients_.data(), descriptor.data(), kPatchSide,
                                kPatchSide, kPatchCentre, kPatchCentre, kPatchScale, 0);
    if (IsZero(descriptor.data())) return;
    if (options_.root) TakeRoot(descriptor.data());
    descriptors_.insert(descriptors_.end(), descriptor.begin(), descriptor.end());
    regions_.push_back({.x = frame.x,
                        .y = frame.y,
                        .a11 = frame.a11,
                        .a12 = frame.a12,
                        .a21 = frame.a21,
                        .a22 = frame.a22,
                        .score = score});
  }

  const HessianAffineOptions& options_;
  Owned<VlCovDet> detector_;
  std::array<float, kPatchPixels> patch_;
  std::array<float, 2 * kPatchPixels> gradients_;  // length and angle of each
  std::vector<AffineRegion> regions_;
  std::vector<float> descriptors_;
};

// Appends the descriptors of one scale.
void DescribeScale(const DenseSiftOptions& options, int bin_size, const GreyPicture& picture,
                   std::vector<float>& descriptors) {
  // From the centre of the first place to that of the last.
  const Index span = Index{3} * bin_size + 1;
  if (picture.width < span || picture.height < span) return;
  const auto width = static_cast<int>(picture.width), height = static_cast<int>(picture.height);
  const Owned<VlDsiftFilter> filter =
      Own(vl_dsift_new_basic(width, height, options.step, bin_size));
  vl_dsift_set_flat_window(filter.get(), options.fast ? VL_TRUE : VL_FALSE);
  const float* pixels = picture.pixels.data();
  std::vector<float> smoothed;
  if (options.magnification > 0) {
    smoothed.resize(picture.pixels.size());
    const double sigma = bin_size / options.magnification;
    vl_imsmooth_f(smoothed.data(), static_cast<vl_size>(width), pixels, static_cast<vl_size>(width),
                  static_cast<vl_size>(height), static_cast<vl_size>(width), sigma, sigma);
    pixels = smoothed.data();
  }
  vl_dsift_process(filter.get(), pixels);
  const VlDsiftKeypoint* keypoints = vl_dsift_get_keypoints(filter.get());
  const float* found = vl_dsift_get_descriptors(filter.get());
  for (Index i = 0; i < vl_dsift_get_keypoint_num(filter.get()); ++i, found += kDimension) {
    if (keypoints[i].norm < options.contrast_threshold || IsZero(found)) continue;
    descriptors.insert(descriptors.end(), found, found + kDimension);
    if (options.root) TakeRoot(descriptors.data() + descriptors.size() - kDimension);
  }
}

}  // namespace

void HessianAffineOptions::Validate() const {
  Require(peak_threshold >= 0 && std::isfinite(peak_threshold), "peak_threshold", "0 or more",
          peak_threshold);
  Require(edge_threshold >= 1, "edge_threshold", "1 or more", edge_threshold);
  Require(max_regions >= 1, "max_regions", "1 or more", max_regions);
  Require(first_octave == 0 || first_octave == -1, "first_octave", "0 or -1", first_octave);
}

HessianAffineSift::HessianAffineSift(const HessianAffineOptions& options) : options_(options) {
  options_.Validate();
}

MatrixF HessianAffineSift::Extract(const Picture& picture) const {
  return Describe(GreyOf(picture)).descriptors;
}

DescribedRegions HessianAffineSift::Describe(const GreyPicture& picture) const {
  RequirePicture(picture);
  if (std::min(picture.width, picture.height) < kLeastSide) {
    return {.regions = {}, .descriptors = MatrixF(kDimension, 0)};
  }
  return RegionDescriber(options_, picture).Run();
}

void DenseSiftOptions::Validate() const {
  constexpr int kLargest = 1024;
  Require(step >= 1 && step <= kLargest, "step", "1 to 1024", step);
  Require(!bin_sizes.empty(), "bin_sizes", "at least one", "none");
  for (const int size : bin_sizes) {
    Require(size >= 1 && size <= kLargest, "bin_sizes", "1 to 1024", size);
  }
  Require(magnification == 0 || (magnification >= 0.1 && std::isfinite(magnification)),
          "magnification", "0, or 0.1 or more", magnification);
  Require(contrast_threshold >= 0, "contrast_threshold", "0 or more", contrast_threshold);
  Require(side == 0 || (side >= kLeastSide && side <= kLargest), "side", "0, or 16 to 1024", side);
}

DenseSift::DenseSift(const DenseSiftOptions& options) : options_(options) { options_.Validate(); }

MatrixF DenseSift::Extract(const Picture& picture) const {
  const GreyPicture grey = GreyOf(picture);
  if (options_.side == 0) return Describe(grey);
  const GreyPicture square = ScaleGrey(CutPlainBorders(grey), options_.side, options_.side);
  MatrixF descriptors = Describe(square);
  if (descriptors.cols() > 0) return descriptors;
  // Faint everywhere, as in fog or at night: what little it has is better than nothing.
  DenseSiftOptions faint = options_;
  faint.contrast_threshold = 0;
  return DenseSift(faint).Describe(square);
}

MatrixF DenseSift::Describe(const GreyPicture& picture) const {
  RequirePicture(picture);
  std::vector<float> descriptors;
  for (const int size : options_.bin_sizes) {
    DescribeScale(options_, size, picture, descriptors);
  }
  return ToMatrix(descriptors);
}

}  // namespace bitpool
