#include "bitpool/experiments/cnn_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/public_sets.h"
#include "bitpool/experiments/kept_reduction.h"
#include "bitpool/experiments/set_pictures.h"
#include "bitpool/io/checksum.h"
#include "bitpool/pictures/network_file.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// The most that is lost when an extraction is interrupted.
constexpr Index kPicturesPerFile = 1000;
// Pictures whose features are in memory at once.
constexpr Index kWave = 32;

// Part of the names of the cached files: all that decides the features.
std::string CacheKey(const CnnFiles& files, const CnnOptions& options) {
  const std::string described = fmt::format(
      "{} {} {} {} {} {} {} {}", ContentDigest(files.definition), ContentDigest(files.weights),
      options.layer, options.size, fmt::join(options.mean, " "), options.scale, options.rgb, "1");
  return ContentDigest(std::as_bytes(std::span(described))).substr(0, 12);
}

// Makes the features of a picture, reduced where that was asked for.
class FeatureMaker {
 public:
  // The reduction is learned from training pictures and kept under the name `file`.
  FeatureMaker(Env& env, const CnnFeaturesRequest& request, const LabelledPictures& training,
               const fs::path& file, const RunContext& context)
      : extractor_(OpenCnn(env, request.network, request.options)) {
    if (request.reduced == 0) return;
    const auto describe = [&](size_t i) {
      return extractor_->Extract(PictureAt(training, static_cast<Index>(i)));
    };
    reduction_ = KeptReduction(env, file, {.dimension = request.reduced},
                               static_cast<size_t>(training.labels.size()), describe, context);
  }

  Index dimension() const { return reduction_ ? reduction_->dimension() : extractor_->dimension(); }
  MatrixF Make(const Picture& picture) const {
    MatrixF features = extractor_->Extract(picture);
    return reduction_ ? reduction_->Apply(features) : features;
  }

 private:
  std::unique_ptr<CnnExtractor> extractor_;
  std::optional<LocalPca> reduction_;
};

// One part of a set, "train" or "test", and the files that hold its features.
class CachedPart {
 public:
  CachedPart(Env& env, fs::path folder, std::string stem, const LabelledPictures& pictures,
             const ViewPlan& views = {})
      : env_(env),
        folder_(std::move(folder)),
        stem_(std::move(stem)),
        pictures_(pictures),
        views_(views) {}

  Index missing(Index count) const {
    Index pictures = 0;
    for (Index first = 0; first < count; first += kPicturesPerFile) {
      if (!env_.Exists(FileAt(first))) pictures += End(first) - first;
    }
    return pictures;
  }

  void Extract(const FeatureMaker& maker, Index count, const RunContext& context,
               Progress& progress) const {
    for (Index first = 0; first < count; first += kPicturesPerFile) {
      if (!env_.Exists(FileAt(first))) ExtractFile(maker, first, context, progress);
    }
  }

  std::shared_ptr<const FeatureSet> Open(Index count) const {
    std::vector<std::shared_ptr<const FeatureSet>> files;
    for (Index first = 0; first < count; first += kPicturesPerFile) {
      auto file = std::make_shared<FeatureFile>(FeatureFile::Open(env_, FileAt(first)));
      if (file->pictures() != End(first) - first ||
          file->images_per_picture() != ImagesPerPicture()) {
        throw Error(ErrorCode::kCorrupt, FileAt(first).string(),
                    fmt::format("features of {} pictures, expected {}; remove the file",
                                file->pictures(), End(first) - first));
      }
      files.push_back(std::move(file));
    }
    return std::make_shared<JoinedFeatureSet>(std::move(files));
  }

 private:
  fs::path FileAt(Index first) const {
    return folder_ / fmt::format("{}-{:03}.bpf", stem_, first / kPicturesPerFile);
  }
  Index End(Index first) const {
    return std::min(first + kPicturesPerFile, pictures_.labels.size());
  }

  Index ImagesPerPicture() const { return 1 + views_.count; }

  // A picture and its views.
  std::vector<MatrixF> ExtractPicture(const FeatureMaker& maker, Index index) const {
    const Picture picture = PictureAt(pictures_, index);
    std::vector<MatrixF> features = {maker.Make(picture)};
    for (const Picture& view : MakeViews(picture, views_)) features.push_back(maker.Make(view));
    return features;
  }

  void ExtractFile(const FeatureMaker& maker, Index first, const RunContext& context,
                   Progress& progress) const {
    FeatureFileWriter writer(env_, FileAt(first), maker.dimension(), Precision::kHalf,
                             IfExists::kReplace, ImagesPerPicture());
    for (Index wave = first; wave < End(first); wave += kWave) {
      const auto count = static_cast<size_t>(std::min(kWave, End(first) - wave));
      std::vector<std::vector<MatrixF>> features(count);
      context.ParallelFor(count, 1, [&](size_t i, size_t /*end*/) {
        features[i] = ExtractPicture(maker, wave + static_cast<Index>(i));
        progress.Advance();
      });
      for (size_t i = 0; i < count; ++i) {
        const std::string name = fmt::format("{}", wave + static_cast<Index>(i));
        for (size_t image = 0; image < features[i].size(); ++image) {
          writer.Append(image == 0 ? name : fmt::format("{}#{}", name, image), features[i][image]);
        }
      }
    }
    writer.Commit({{"pictures", stem_}});
  }

  Env& env_;
  fs::path folder_;
  std::string stem_;
  const LabelledPictures& pictures_;
  ViewPlan views_;
};

// How many of a part's pictures belong to the first `limit` of both parts together.
Index Share(Index part, Index all, Index limit) {
  if (limit == 0 || limit >= all) return part;
  return std::max<Index>(1, part * limit / all);
}

std::vector<Index> FirstItems(Index count) {
  std::vector<Index> items(static_cast<size_t>(count));
  std::iota(items.begin(), items.end(), Index{0});
  return items;
}

// The first pictures of a set, which stays alive with them.
std::shared_ptr<const FeatureSet> FirstOf(std::shared_ptr<const FeatureSet> set, Index count) {
  struct Part {
    std::shared_ptr<const FeatureSet> whole;
    FeatureSubset first;
  };
  const FeatureSet& whole = *set;
  auto part = std::make_shared<Part>(
      Part{.whole = std::move(set), .first = FeatureSubset::OfPictures(whole, FirstItems(count))});
  return {part, &part->first};
}

std::string Described(const CnnFeaturesRequest& request) {
  std::string layer = fmt::format("{} of {} at {} pixels", request.options.layer,
                                  request.network.definition.stem().string(), request.options.size);
  if (request.reduced == 0) return layer;
  return fmt::format("{}, reduced to {} dimensions", layer, request.reduced);
}

}  // namespace

CnnFeatures LoadCnnFeatures(Env& env, const CnnFeaturesRequest& request, const RunContext& context,
                            const std::function<void(const std::string&)>& say) {
  const PublicPictures pictures = LoadPublicSet(env, FindPublicSet(request.set), request.folder);
  const std::string network_key =
      CacheKey(MappedNetwork(env, request.network).files(), request.options);
  const std::string key =
      request.reduced == 0 ? network_key : fmt::format("{}-{}", network_key, request.reduced);
  const fs::path folder = request.folder / request.set;
  const CachedPart train(env, folder, fmt::format("cnn-{}-train", key), pictures.train);
  const CachedPart test(env, folder, fmt::format("cnn-{}-test", key), pictures.test);
  const CachedPart views(env, folder,
                         fmt::format("cnn-{}-train-{}-{}-{}", key, NameOf(request.views.kind),
                                     request.views.count, request.views.seed),
                         pictures.train, request.views);
  const Index all = pictures.train.labels.size() + pictures.test.labels.size();
  const Index train_count = Share(pictures.train.labels.size(), all, request.limit);
  const Index test_count = Share(pictures.test.labels.size(), all, request.limit);
  const Index view_count = request.views.count > 0 ? std::min(request.with_views, train_count) : 0;
  if (const Index missing =
          train.missing(train_count) + test.missing(test_count) + views.missing(view_count);
      missing > 0) {
    say(fmt::format("extracting the features of {} pictures, kept in {}", missing,
                    folder.string()));
    const FeatureMaker maker(env, request, pictures.train,
                             folder / fmt::format("cnn-{}", network_key), context);
    Progress progress =
        context.StartProgress("extracting", "pictures", static_cast<uint64_t>(missing));
    train.Extract(maker, train_count, context, progress);
    test.Extract(maker, test_count, context, progress);
    views.Extract(maker, view_count, context, progress);
  }
  return {.name = request.set,
          .features = Described(request),
          .train = FirstOf(train.Open(train_count), train_count),
          .test = FirstOf(test.Open(test_count), test_count),
          .views = view_count > 0 ? FirstOf(views.Open(view_count), view_count) : nullptr,
          .train_labels = pictures.train.labels.Select(FirstItems(train_count)),
          .test_labels = pictures.test.labels.Select(FirstItems(test_count))};
}

}  // namespace bitpool
