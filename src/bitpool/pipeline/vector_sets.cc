#include "bitpool/pipeline/vector_sets.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/dataset/public_sets.h"
#include "bitpool/features/gist.h"
#include "bitpool/features/pixels.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Stands in the names of cached files; a change of the descriptors must change it.
constexpr const char* kGistVersion = "gist320-1";

Index PixelsOf(const PictureSet& pictures) {
  Index pixels = 1;
  for (const uint64_t side : pictures.shape) pixels *= static_cast<Index>(side);
  return pixels;
}

MatrixF ComputeGist(const PictureSet& pictures, const RunContext& context) {
  const auto height = static_cast<Index>(pictures.shape.at(1));
  const auto width = static_cast<Index>(pictures.shape.at(2));
  const GistExtractor extractor({}, width, height);
  return ExtractAll(extractor, GreyColumns(pictures.pixels, width * height), context);
}

// The descriptors from the cache, or computed and then kept there.
MatrixF CachedGist(Env& env, const fs::path& file, const PictureSet& pictures,
                   const RunContext& context, const std::function<void(const std::string&)>& say) {
  if (env.Exists(file)) {
    const SampleFile samples = OpenSamples(env, file);
    const auto count = static_cast<Index>(samples.count());
    if (count == pictures.labels.size()) {
      const std::vector<float> values = samples.ReadAll<float>();
      return Eigen::Map<const MatrixF>(values.data(), static_cast<Index>(samples.dimension()),
                                       count);
    }
  }
  say(fmt::format("computing GIST descriptors, kept in {}", file.string()));
  MatrixF gist = ComputeGist(pictures, context);
  const auto writer = CreateSamples(env, file, DType::kF4, {static_cast<uint64_t>(gist.rows())},
                                    IfExists::kReplace);
  writer->Append<float>({gist.data(), static_cast<size_t>(gist.size())});
  writer->Commit();
  return gist;
}

}  // namespace

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
