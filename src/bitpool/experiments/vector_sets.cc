#include "bitpool/experiments/vector_sets.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"
#include "bitpool/dataset/public_sets.h"
#include "bitpool/features/gist.h"
#include "bitpool/features/pixels.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/samples/splits.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Part of the names of cached files; a change of the descriptors must change it.
constexpr const char* kGistVersion = "gist320-1";

constexpr Index kSiftDimension = 128;
constexpr float kSiftLength = 512;

// A file of vectors as a matrix.
MatrixF ReadVectors(const SampleFile& samples) {
  const std::vector<float> values = samples.ReadAll<float>();
  return Eigen::Map<const MatrixF>(values.data(), static_cast<Index>(samples.dimension()),
                                   static_cast<Index>(samples.count()));
}

Index PixelsOf(const LabelledPictures& pictures) {
  Index pixels = 1;
  for (const uint64_t side : pictures.shape) pixels *= static_cast<Index>(side);
  return pixels;
}

MatrixF ComputeGist(const LabelledPictures& pictures, const RunContext& context) {
  const auto height = static_cast<Index>(pictures.shape.at(1));
  const auto width = static_cast<Index>(pictures.shape.at(2));
  const GistExtractor extractor({}, width, height);
  return ExtractAll(extractor, GreyColumns(pictures.pixels, width * height), context);
}

// The descriptors from the cache, or computed and then kept there.
MatrixF CachedGist(Env& env, const fs::path& file, const LabelledPictures& pictures,
                   const RunContext& context, const std::function<void(const std::string&)>& say) {
  if (env.Exists(file)) {
    const SampleFile samples = OpenSamples(env, file);
    if (static_cast<Index>(samples.count()) == pictures.labels.size()) return ReadVectors(samples);
  }
  say(fmt::format("computing GIST descriptors, kept in {}", file.string()));
  MatrixF gist = ComputeGist(pictures, context);
  const auto writer = CreateSamples(env, file, DType::kF4, {static_cast<uint64_t>(gist.rows())},
                                    IfExists::kReplace);
  writer->Append<float>({gist.data(), static_cast<size_t>(gist.size())});
  writer->Commit();
  return gist;
}

Index CountDescriptors(const FeatureSet& features) {
  Index count = 0;
  for (Index image = 0; image < features.size(); ++image) count += features.descriptor_count(image);
  return count;
}

// The descriptors with these numbers, ascending and counted over all images, as SIFT.
MatrixF GatherSift(const FeatureSet& features, const std::vector<Index>& wanted,
                   const RunContext& context) {
  MatrixF gathered(kSiftDimension, static_cast<Index>(wanted.size()));
  MatrixF descriptors;
  size_t next = 0;
  Index first = 0;  // number of the image's first descriptor
  for (Index image = 0; image < features.size() && next < wanted.size(); ++image) {
    context.ThrowIfStopped();
    const Index end = first + features.descriptor_count(image);
    if (wanted[next] < end) features.Read(image, descriptors);
    for (; next < wanted.size() && wanted[next] < end; ++next) {
      const VectorF sift = descriptors.col(wanted[next] - first).array().square();
      const float length = sift.norm();
      gathered.col(static_cast<Index>(next)) = length > 0 ? sift * (kSiftLength / length) : sift;
    }
    first = end;
  }
  return gathered;
}

}  // namespace

VectorSet SiftSetOf(const FeatureSet& pictures, const FeatureSet& query_pictures,
                    const SiftSetSizes& sizes, const RunContext& context) {
  const Index all = CountDescriptors(pictures), asking = CountDescriptors(query_pictures);
  if (pictures.dimension() != kSiftDimension || query_pictures.dimension() != kSiftDimension ||
      all < 10 || asking < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("expected RootSIFT of 128 dimensions, 10 or more: {} of {} and {} of "
                            "{} dimensions",
                            all, pictures.dimension(), asking, query_pictures.dimension()));
  }
  const double share = std::min(
      1.0, static_cast<double>(all) / static_cast<double>(sizes.training + sizes.database));
  const auto part = [share](Index count) {
    return std::max<Index>(1, static_cast<Index>(share * static_cast<double>(count)));
  };
  const Index training = part(sizes.training), database = part(sizes.database);
  const std::vector<Index> drawn = ChooseItems(all, training + database, context.seed()).chosen;
  const Split split = ChooseItems(training + database, training, context.seed());
  const auto numbers = [&](const std::vector<Index>& places) {
    std::vector<Index> found;
    found.reserve(places.size());
    for (const Index place : places) found.push_back(drawn[static_cast<size_t>(place)]);
    return found;
  };
  VectorSet set;
  set.name = "sift-of-pictures";
  set.features = "SIFT on Hessian-affine regions of the pictures at hand, 128 dimensions";
  set.train = GatherSift(pictures, numbers(split.chosen), context);
  set.database = GatherSift(pictures, numbers(split.rest), context);
  set.test = GatherSift(query_pictures,
                        ChooseItems(asking, std::min(asking, sizes.queries), context.seed()).chosen,
                        context);
  return set;
}

VectorSet LoadSift1M(Env& env, const fs::path& folder) {
  const auto read = [&](const char* name) {
    const fs::path file = folder / name;
    if (!env.Exists(file)) {
      throw Error(ErrorCode::kNotFound, file.string(),
                  "no such file; SIFT1M is at http://corpus-texmex.irisa.fr/");
    }
    return ReadVectors(OpenSamples(env, file));
  };
  VectorSet set;
  set.name = "sift1m";
  set.features = "SIFT, 128 dimensions";
  set.train = read("sift_learn.fvecs");
  set.database = read("sift_base.fvecs");
  set.test = read("sift_query.fvecs");
  return set;
}

VectorSet LoadVectorSet(Env& env, const std::string& name, const fs::path& folder,
                        const RunContext& context,
                        const std::function<void(const std::string&)>& say) {
  const PublicPictures pictures = LoadPublicSet(env, FindPublicSet(name), folder);
  VectorSet set;
  set.name = name;
  set.train_labels = pictures.train.labels;
  set.test_labels = pictures.test.labels;
  if (pictures.train.shape.size() == 3) {
    set.features = "GIST, 320 dimensions";
    const fs::path cache = folder / name;
    set.train = CachedGist(env, cache / fmt::format("{}-train.bpv", kGistVersion), pictures.train,
                           context, say);
    set.test = CachedGist(env, cache / fmt::format("{}-test.bpv", kGistVersion), pictures.test,
                          context, say);
  } else {
    set.features = fmt::format("pixels, {} dimensions", PixelsOf(pictures.train));
    set.train = PixelColumns(pictures.train.pixels, PixelsOf(pictures.train));
    set.test = PixelColumns(pictures.test.pixels, PixelsOf(pictures.test));
  }
  return set;
}

}  // namespace bitpool
