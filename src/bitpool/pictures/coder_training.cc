#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/pictures/extract_pictures.h"
#include "bitpool/pictures/feature_reduction.h"
#include "bitpool/pictures/picture_coder.h"
#include "bitpool/pictures/picture_features.h"
#include "bitpool/training/feature_training.h"
#include "bitpool/training/methods.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Random-number streams; TrainOnFeatures uses lower numbers.
constexpr uint64_t kDrawStream = 101, kSampleStream = 102, kViewStream = 103;
// Features that are needed for each component of the whitening: with fewer, the smallest variances
// are far too small and the embedding amplifies noise.
constexpr Index kFeaturesPerComponent = 4;
// Where there are few pictures: the samples wanted for each bit, and the most wanted in all.
constexpr Index kSamplesPerBit = 4, kMostSamples = 1024;
// Records of pictures beyond this go to the scratch folder.
constexpr uint64_t kRecordMemory = uint64_t{256} << 20;
constexpr size_t kPicturesPerTask = 16;

// The files of a training, removed with this, and their folder when nothing else is in it.
class ScratchFiles {
 public:
  ScratchFiles(Env& env, fs::path folder) : env_(env), folder_(std::move(folder)) {
    env_.MakeFolders(folder_);
  }
  ~ScratchFiles() {
    RemoveIfThere([&] { return features(); });
    RemoveIfThere([&] { return fs::path(output()) += ".checkpoint"; });
    try {
      env_.RemoveFolder(folder_);
    } catch (...) {  // something else is in it
    }
  }
  ScratchFiles(const ScratchFiles&) = delete;
  ScratchFiles& operator=(const ScratchFiles&) = delete;

  fs::path features() const { return folder_ / "training.bpf"; }
  // TrainOnFeatures keeps its own files beside this one.
  fs::path output() const { return folder_ / "training.bpm"; }

 private:
  template <class MakePath>
  void RemoveIfThere(const MakePath& make_path) {
    try {
      const fs::path file = make_path();
      if (env_.Exists(file)) env_.Remove(file);
    } catch (...) {  // a scratch file that stays does no harm: the next job replaces it
    }
  }

  Env& env_;
  fs::path folder_;
};

MatrixF Embedded(const PictureDescriber& describer, const MatrixF& features) {
  return describer.embedding() ? describer.embedding()->Apply(features) : features;
}

// What the hash functions learn from when pictures have no views: every picture as a whole, then
// random halves of its features, `views` samples in all; embedded as they are read.
class TrainingSamples : public FeatureSet {
 public:
  TrainingSamples(const FeatureFile& pictures, const PictureDescriber& describer, Index views,
                  const Random& random)
      : pictures_(pictures), describer_(describer), views_(views), random_(random) {}

  Index size() const override { return pictures_.size() * views_; }
  Index dimension() const override { return describer_.dimension(); }
  std::string name(Index sample) const override { return pictures_.name(sample / views_); }
  Index descriptor_count(Index sample) const override {
    const Index all = pictures_.descriptor_count(sample / views_);
    return sample % views_ == 0 ? all : (all + 1) / 2;
  }

  void Read(Index sample, MatrixF& descriptors) const override {
    MatrixF raw;
    pictures_.Read(sample / views_, raw);
    if (sample % views_ != 0) raw = RandomColumns(raw, sample);
    descriptors = Embedded(describer_, raw);
  }

 private:
  MatrixF RandomColumns(const MatrixF& all, Index sample) const {
    Random random = random_.Fork(static_cast<uint64_t>(sample));
    std::vector<uint64_t> chosen = random.Sample(static_cast<uint64_t>(all.cols()),
                                                 static_cast<uint64_t>(descriptor_count(sample)));
    std::ranges::sort(chosen);
    return all(Eigen::all, chosen);
  }

  const FeatureFile& pictures_;
  const PictureDescriber& describer_;
  Index views_;
  Random random_;
};

std::vector<fs::path> Draw(const std::vector<fs::path>& pictures, Index most,
                           const RunContext& context) {
  if (static_cast<Index>(pictures.size()) <= most) return pictures;
  std::vector<uint64_t> chosen =
      context.MakeRandom(kDrawStream).Sample(pictures.size(), static_cast<uint64_t>(most));
  std::ranges::sort(chosen);
  std::vector<fs::path> drawn;
  drawn.reserve(chosen.size());
  for (const uint64_t picture : chosen) drawn.push_back(pictures[picture]);
  return drawn;
}

// A picture whose features were written.
struct ExtractedPicture {
  uint64_t checksum = 0;
  PictureFacts facts;
};

struct Extraction {
  std::vector<ExtractedPicture> pictures;
  std::vector<FailedPicture> failed;
};

// Writes the features of the pictures that have some, as they are, so that codes can be made of
// them.
Extraction ExtractTo(Env& env, const fs::path& file, const PictureDescriber& describer,
                     const std::vector<fs::path>& pictures, const ViewPlan& plan,
                     const RunContext& context) {
  Extraction extraction;
  FeatureFileWriter writer(env, file, describer.dimension(), Precision::kSingle, IfExists::kReplace,
                           1 + plan.count);
  {
    Progress progress = context.StartProgress("describing", "pictures", pictures.size());
    DescribePictures(
        env, describer, pictures, progress, context,
        [&](size_t i, const DescribedPicture& picture) {
          if (!picture.failure.empty()) {
            extraction.failed.push_back({.path = pictures[i], .reason = picture.failure});
          } else {
            writer.Append(pictures[i].string(), picture.features);
            for (size_t view = 0; view < picture.views.size(); ++view) {
              writer.Append(fmt::format("{}#{}", pictures[i].string(), view + 1),
                            picture.views[view]);
            }
            extraction.pictures.push_back({.checksum = picture.checksum, .facts = picture.facts});
          }
        },
        plan);
  }
  writer.Commit(nlohmann::json::object());
  return extraction;
}

std::map<uint64_t, PictureCode> EncodeExtracted(const PictureCoder& coder,
                                                const FeatureFile& features,
                                                const std::vector<ExtractedPicture>& pictures,
                                                const RunContext& context) {
  std::vector<PictureCode> codes(pictures.size());
  Progress progress = context.StartProgress("encoding", "pictures", pictures.size());
  context.ParallelFor(pictures.size(), 1, [&](size_t i, size_t /*end*/) {
    MatrixF raw;
    features.Read(static_cast<Index>(i) * features.images_per_picture(), raw);
    codes[i] = coder.EncodeFeatures(Embedded(coder.describer(), raw), pictures[i].facts);
    progress.Advance();
  });
  std::map<uint64_t, PictureCode> by_checksum;
  for (size_t i = 0; i < pictures.size(); ++i) {
    by_checksum.emplace(pictures[i].checksum, std::move(codes[i]));
  }
  return by_checksum;
}

void RequireSome(const FeatureFile& features, const std::vector<FailedPicture>& failed) {
  if (features.size() > 0) return;
  std::string message = "no pictures to learn from";
  if (!failed.empty()) {
    message = fmt::format("none of {} pictures can be used to learn from; the first: {}: {}",
                          failed.size(), failed[0].path.string(), failed[0].reason);
  }
  throw Error(ErrorCode::kInvalidArgument, message);
}

// At most `most` features of all pictures; each picture contributes its share.
MatrixF SampleFeatures(const FeatureFile& features, Index most, const RunContext& context) {
  std::vector<Index> ends(static_cast<size_t>(features.size()));
  for (Index image = 0; image < features.size(); ++image) {
    ends[static_cast<size_t>(image)] = features.descriptor_count(image);
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  const Index all = ends.back();
  const Index wanted = std::min(all, most);
  // Where the sample of an image begins: its place in the whole, scaled.
  const auto start = [&](size_t image) { return image == 0 ? 0 : ends[image - 1] * wanted / all; };
  MatrixF sample(features.dimension(), wanted);
  const Random random = context.MakeRandom(kSampleStream);
  context.ParallelFor(ends.size(), kPicturesPerTask, [&](size_t begin, size_t end) {
    MatrixF descriptors;
    for (size_t image = begin; image < end; ++image) {
      const Index first = start(image);
      const Index count = start(image + 1) - first;
      features.Read(static_cast<Index>(image), descriptors);
      const std::vector<uint64_t> chosen = random.Fork(image).Sample(
          static_cast<uint64_t>(descriptors.cols()), static_cast<uint64_t>(count));
      for (size_t i = 0; i < chosen.size(); ++i) {
        sample.col(first + static_cast<Index>(i)) = descriptors.col(static_cast<Index>(chosen[i]));
      }
    }
  });
  return sample;
}

// Uses as many anchors as the features allow; nothing when there are too few features for any.
std::optional<TriangulationEmbedding> LearnEmbedding(TriangulationOptions options,
                                                     const MatrixF& sample,
                                                     const RunContext& context) {
  const Index dimension = sample.rows();
  options.anchors = std::min(options.anchors, sample.cols() / (kFeaturesPerComponent * dimension));
  if (options.anchors * dimension <= options.dropped.value_or(dimension)) return std::nullopt;
  return TrainTriangulation(options, MatrixColumns(sample), context).model;
}

Index ViewsFor(Index pictures, int bits) {
  const Index wanted = std::min<Index>(kSamplesPerBit * bits, kMostSamples);
  return (wanted + pictures - 1) / pictures;
}

// What the hash functions learn from: all images where pictures have views.
std::unique_ptr<const FeatureSet> SamplesFor(const FeatureFile& features,
                                             const PictureDescriber& describer, int bits,
                                             const RunContext& context) {
  if (features.images_per_picture() > 1) {
    return std::make_unique<EmbeddedFeatures>(features, describer.embedding());
  }
  return std::make_unique<TrainingSamples>(features, describer, ViewsFor(features.size(), bits),
                                           context.MakeRandom(kViewStream));
}

// How the features of the pictures are reduced. It is learned from some of them before any features
// are stored: raw, they would take several times the space.
LocalPca Reduction(Env& env, const CoderTraining& training, const PictureDescriber& describer,
                   const std::vector<fs::path>& pictures, const RunContext& context) {
  // What fails here is reported when all are described.
  const auto describe = [&](size_t i) { return FeaturesIfAny(env, describer, pictures[i]); };
  return LearnReduction({.dimension = training.reduced}, pictures.size(), describe, context);
}

}  // namespace

void CoderTraining::Validate() const {
  extractor.Validate();
  embedding.Validate();
  RequireBits(hash.bits);
  FindMethod(hash.method, NeedsNoLabels);
  RequireValid(hash);
  views.Validate();
  if (reduced < 0 || (reduced > 0 && extractor.kind != "cnn")) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("reduced: expected 0, or dimensions for features of a network, got {}",
                            reduced));
  }
  RequireAtLeast(1, pictures, "pictures");
  RequireAtLeast(1, sample, "sample");
}

TrainedCoder TrainCoder(Env& env, const CoderTraining& training,
                        const std::vector<fs::path>& pictures, const fs::path& scratch,
                        const RunContext& context) {
  training.Validate();
  PictureDescriber describer = PictureDescriber::Open(env, training.extractor);
  const ScratchFiles files(env, scratch);
  const std::vector<fs::path> drawn = Draw(pictures, training.pictures, context);
  if (training.reduced > 0 && !drawn.empty()) {
    describer = describer.WithReduction(Reduction(env, training, describer, drawn, context));
  }
  Extraction extraction =
      ExtractTo(env, files.features(), describer, drawn, training.views, context);
  const FeatureFile features = FeatureFile::Open(env, files.features());
  RequireSome(features, extraction.failed);
  if (training.extractor.kind != "cnn") {
    describer = describer.WithEmbedding(LearnEmbedding(
        training.embedding, SampleFeatures(features, training.sample, context), context));
  }
  const auto samples = SamplesFor(features, describer, training.hash.bits, context);
  Trained<HashModel> trained = TrainOnFeatures(
      env, {.settings = training.hash, .output = files.output(), .memory = kRecordMemory}, *samples,
      context);
  nlohmann::json story = DescribeTraining(training.hash, trained.summary, context.seed());
  story["pictures"] = features.pictures();
  if (training.views.count > 0) story["views"] = DescribeViews(training.views);
  PictureCoder coder(std::move(describer),
                     {.model = std::move(trained.model), .training = std::move(story)});
  std::map<uint64_t, PictureCode> codes;
  if (!trained.summary.interrupted) {
    codes = EncodeExtracted(coder, features, extraction.pictures, context);
  }
  return {.coder = std::move(coder),
          .codes = std::move(codes),
          .summary = std::move(trained.summary),
          .failed = std::move(extraction.failed)};
}

}  // namespace bitpool
