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
#include "bitpool/training/feature_training.h"
#include "bitpool/training/methods.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Of the random numbers; TrainOnFeatures uses smaller ones.
constexpr uint64_t kDrawStream = 101, kSampleStream = 102, kViewStream = 103;
// Features that are needed for each component of the whitening: with fewer, the smallest variances
// are far too small and the embedding amplifies noise.
constexpr Index kFeaturesPerComponent = 4;
// Samples that are wanted for each bit, and at most, where there are few pictures.
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
    fs::path checkpoint = output();
    checkpoint += ".checkpoint";
    for (const fs::path& file : {features(), checkpoint}) {
      try {
        if (env_.Exists(file)) env_.Remove(file);
      } catch (const Error&) {  // a scratch file that stays does no harm: the next job replaces it
      }
    }
    try {
      env_.RemoveFolder(folder_);
    } catch (const Error&) {  // something else is in it
    }
  }
  ScratchFiles(const ScratchFiles&) = delete;
  ScratchFiles& operator=(const ScratchFiles&) = delete;

  fs::path features() const { return folder_ / "training.bpf"; }
  // Beside which TrainOnFeatures keeps its own files.
  fs::path output() const { return folder_ / "training.bpm"; }

 private:
  Env& env_;
  fs::path folder_;
};

MatrixF Embedded(const PictureDescriber& describer, const MatrixF& features) {
  return describer.embedding() ? describer.embedding()->Apply(features) : features;
}

// What the hash functions learn from where pictures have views: all images, embedded when they are
// read.
class EmbeddedImages : public FeatureSet {
 public:
  EmbeddedImages(const FeatureFile& images, const PictureDescriber& describer)
      : images_(images), describer_(describer) {}

  Index size() const override { return images_.size(); }
  Index dimension() const override { return describer_.dimension(); }
  Index images_per_picture() const override { return images_.images_per_picture(); }
  std::string name(Index image) const override { return images_.name(image); }
  Index descriptor_count(Index image) const override { return images_.descriptor_count(image); }
  void Read(Index image, MatrixF& descriptors) const override {
    MatrixF raw;
    images_.Read(image, raw);
    descriptors = Embedded(describer_, raw);
  }

 private:
  const FeatureFile& images_;
  const PictureDescriber& describer_;
};

// What they learn from where there are none: every picture as a whole, then random halves of its
// features, `views` samples in all; embedded when they are read.
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

// At most `most` features of all pictures, from each its share.
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

// With as many anchors as the features allow; none where they are too few for any.
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

std::unique_ptr<const FeatureSet> SamplesFor(const FeatureFile& features,
                                             const PictureDescriber& describer, int bits,
                                             const RunContext& context) {
  if (features.images_per_picture() > 1) {
    return std::make_unique<EmbeddedImages>(features, describer);
  }
  return std::make_unique<TrainingSamples>(features, describer, ViewsFor(features.size(), bits),
                                           context.MakeRandom(kViewStream));
}

// How the features of the pictures are reduced, learned from some of them before any is kept: raw,
// they would take several times the space.
LocalPca Reduction(Env& env, const CoderTraining& training, const PictureDescriber& describer,
                   const std::vector<fs::path>& pictures, const RunContext& context) {
  const auto describe = [&](size_t i) {
    try {
      return describer.Describe(describer.Decode(env.Read(pictures[i], MaxPictureBytes())));
    } catch (const Error&) {  // reported when all are described
      return MatrixF(describer.dimension(), 0);
    }
  };
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
