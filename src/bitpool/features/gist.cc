#include "bitpool/features/gist.h"

#include <fmt/format.h>

#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/features/gist_filters.h"
#include "bitpool/features/gist_prefilter.h"

namespace bitpool {
namespace {

// Limits of what makes sense; the memory of a filter grows with the square of the side.
constexpr Index kLargestSide = 1024;
constexpr Index kMostExtension = 256;
constexpr Index kMostScales = 16;
constexpr Index kMostOrientations = 64;  // of one scale

// Pictures described at once by a thread.
constexpr size_t kChunkPictures = 64;

void RequireFinite(const MatrixFRef& pictures, Index first) {
  for (Index i = 0; i < pictures.cols(); ++i) {
    if (pictures.col(i).allFinite()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("picture {}: a pixel is not a finite number", first + i));
  }
}

// Stretches the values to 0..255, as the authors do before the prefilter. REQUIRES: all are finite
void StretchContrast(const VectorFRef& pixels, MatrixF& picture) {
  const auto lowest = static_cast<double>(pixels.minCoeff());
  const auto range = static_cast<double>(pixels.maxCoeff()) - lowest;
  const double factor = range > 0 ? 255 / range : 0;
  const Eigen::Map<const MatrixF> source(pixels.data(), picture.rows(), picture.cols());
  picture = ((source.cast<double>().array() - lowest) * factor).cast<float>();
}

void RequireSize(const GistExtractor& extractor, const MatrixFRef& pictures) {
  const Index pixels = extractor.width() * extractor.height();
  if (pictures.rows() == pixels) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("pictures of {} pixels; the extractor was made for {} × {} = {}",
                          pictures.rows(), extractor.width(), extractor.height(), pixels));
}

void RequireBetween(const char* name, Index value, Index least, Index most) {
  if (value >= least && value <= most) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: expected {} to {}, got {}", name, least, most, value));
}

}  // namespace

void GistOptions::Validate() const {
  RequireBetween("scales of orientations_per_scale",
                 static_cast<Index>(orientations_per_scale.size()), 1, kMostScales);
  for (const int orientations : orientations_per_scale) {
    RequireBetween("orientations_per_scale", orientations, 1, kMostOrientations);
  }
  RequireBetween("blocks", blocks, 1, kLargestSide);
  RequireBetween("boundary_extension", boundary_extension, 0, kMostExtension);
  if (!(prefilter_cutoff > 0) || !std::isfinite(prefilter_cutoff)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("prefilter_cutoff: expected a number above 0, got {}", prefilter_cutoff));
  }
}

struct GistExtractor::Plan {
  GistPrefilter prefilter;
  GistFilters filters;
};

GistExtractor::GistExtractor(const GistOptions& options, Index width, Index height)
    : width_(width), height_(height) {
  options.Validate();
  // A block has at least one pixel.
  RequireBetween("width of pictures", width, options.blocks, kLargestSide);
  RequireBetween("height of pictures", height, options.blocks, kLargestSide);
  plan_ = std::make_shared<const Plan>(
      Plan{.prefilter = GistPrefilter(options.prefilter_cutoff, width, height),
           .filters = GistFilters(options, width, height)});
  dimension_ = plan_->filters.dimension();
}

MatrixF GistExtractor::Extract(const MatrixFRef& pictures) const {
  RequireSize(*this, pictures);
  RequireFinite(pictures, 0);
  MatrixF descriptors(dimension_, pictures.cols());
  MatrixF picture(width_, height_);
  GistPrefilter::Workspace prefilter_work;
  GistFilters::Workspace filters_work;
  for (Index i = 0; i < pictures.cols(); ++i) {
    StretchContrast(pictures.col(i), picture);
    plan_->prefilter.Apply(picture, prefilter_work);
    plan_->filters.Describe(picture, filters_work, descriptors.col(i));
  }
  return descriptors;
}

MatrixF ExtractAll(const GistExtractor& extractor, const MatrixFRef& pictures,
                   const RunContext& context) {
  RequireSize(extractor, pictures);  // also when there are none
  MatrixF descriptors(extractor.dimension(), pictures.cols());
  const auto count = static_cast<size_t>(pictures.cols());
  Progress progress = context.StartProgress("describing", "pictures", count);
  context.ParallelFor(count, kChunkPictures, [&](size_t begin, size_t end) {
    const auto first = static_cast<Index>(begin);
    const auto size = static_cast<Index>(end - begin);
    const auto chunk = pictures.middleCols(first, size);
    RequireFinite(chunk, first);  // here too, for the number of the picture among all
    descriptors.middleCols(first, size) = extractor.Extract(chunk);
    progress.Advance(end - begin);
  });
  return descriptors;
}

}  // namespace bitpool
