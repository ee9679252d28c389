#include "bitpool/experiments/retrieval_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/holidays.h"
#include "bitpool/dataset/oxford.h"
#include "bitpool/experiments/kept_reduction.h"
#include "bitpool/experiments/remembered_tuning.h"
#include "bitpool/image/picture.h"
#include "bitpool/io/checksum.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/pictures/extract_pictures.h"
#include "bitpool/pictures/picture_features.h"
#include "bitpool/pictures/picture_files.h"
#include "bitpool/training/record_file.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Descriptors drawn evenly from all images, about `count`.
MatrixF SampleDescriptors(const FeatureSet& features, Index count, const RunContext& context) {
  Index all = 0;
  for (Index image = 0; image < features.size(); ++image) all += features.descriptor_count(image);
  const double share = std::min(1.0, static_cast<double>(count) / static_cast<double>(all));
  std::vector<MatrixF> parts;
  Index columns = 0;
  for (Index image = 0; image < features.size(); ++image) {
    context.ThrowIfStopped();
    MatrixF descriptors;
    features.Read(image, descriptors);
    const auto wanted =
        static_cast<uint64_t>(std::ceil(share * static_cast<double>(descriptors.cols())));
    Random random = context.MakeRandom(static_cast<uint64_t>(image));
    std::vector<Index> chosen;
    for (const uint64_t i : random.Sample(static_cast<uint64_t>(descriptors.cols()), wanted)) {
      chosen.push_back(static_cast<Index>(i));
    }
    parts.emplace_back(descriptors(Eigen::all, chosen));
    columns += parts.back().cols();
  }
  MatrixF sample(features.dimension(), columns);
  Index at = 0;
  for (const MatrixF& part : parts) {
    sample.middleCols(at, part.cols()) = part;
    at += part.cols();
  }
  return sample;
}

// The part of a picture inside a box, whose edges are in pixels of the original.
Picture PartInBox(const Picture& picture, const Box& box, double scale) {
  return CropPicture(picture, {.left = box.left * scale,
                               .top = box.top * scale,
                               .right = box.right * scale,
                               .bottom = box.bottom * scale});
}

// The first pictures of a folder by their paths, this many; 0: all.
std::vector<FoundPicture> FirstPictures(Env& env, const fs::path& folder, Index limit,
                                        const RunContext& context) {
  std::vector<FoundPicture> pictures = FindPictures(env, folder, context);
  if (limit > 0 && static_cast<size_t>(limit) < pictures.size()) {
    pictures.resize(static_cast<size_t>(limit));
  }
  return pictures;
}

// For the name of a kept file: what was done with which pictures.
std::string DigestOf(std::string done, const std::vector<FoundPicture>& pictures) {
  for (const FoundPicture& picture : pictures) {
    done += fmt::format("\n{} {} {}", picture.path, picture.size, picture.mtime_ns);
  }
  return ContentDigest(std::as_bytes(std::span(done))).substr(0, 12);
}

class RetrievalRunner {
 public:
  RetrievalRunner(Env& env, const RetrievalOptions& options, const RetrievalSet& set,
                  const RunContext& context, const std::function<void(const std::string&)>& say)
      : env_(env),
        options_(options),
        set_(set),
        context_(context),
        say_(say),
        describer_(PictureDescriber::Open(env, options.extractor)) {}

  Experiment Run() {
    if (options_.reduced > 0) describer_ = describer_.WithReduction(Reduction());
    const FeatureFile images = Features(set_.training, "training", options_.limit, options_.views);
    const FeatureSubset training = FeatureSubset::WithoutViews(images);
    if (training.size() == 0) {
      throw Error(ErrorCode::kInvalidArgument, set_.training.string(),
                  "no pictures here that can be learned from");
    }
    const FeatureFile database = Features(set_.pictures, set_.name, options_.searched, {});
    const RetrievalTask task = LoadTask(database);
    if (task.queries.empty()) {
      throw Error(ErrorCode::kInvalidArgument, set_.pictures.string(),
                  "no queries that have an answer among the pictures");
    }
    if (describer_.settings().kind != "cnn") {
      say_("learning the embedding");
      const MatrixF sample = SampleDescriptors(training, options_.sample, context_);
      embedding_ = TrainTriangulation(options_.embedding, MatrixColumns(sample), context_).model;
    }
    const auto views = options_.views.count > 0 ? Embedded(images) : nullptr;
    JointOptions joint_options = options_.joint;
    if (views) joint_options.AddOurs();
    if (options_.tune) Tune(training, views.get(), joint_options);
    const auto training_records = Reduce(training, "training");
    const auto database_records = Reduce(database, "database");
    std::unique_ptr<RecordStore> query_records;
    std::vector<Index> query_images;
    const auto database_images = Embedded(database);
    const MemoryFeatureSet boxes = task.queries.at(0).box
                                       ? CroppedQueries(task, database)
                                       : MemoryFeatureSet(describer_.dimension());
    const auto query_set = Embedded(boxes);
    if (task.queries.at(0).box) {
      query_records = Reduce(boxes, "queries");
    } else {
      for (const PictureQuery& query : task.queries) query_images.push_back(query.picture);
    }
    const JointTask joint{.training = *training_records,
                          .database = *database_records,
                          .queries = query_records.get(),
                          .query_images = query_images,
                          .truth = task.truth,
                          .protocol = HolidaysProtocol(),
                          .normalise = options_.normalise,
                          .views = views.get(),
                          .database_images = database_images.get(),
                          .query_set = query_set.get(),
                          .names = NamesOf(database),
                          .query_names = QueryNames(task, database)};
    Experiment experiment = RunJointExperiment(joint_options, joint, context_);
    experiment.name = "retrieval";
    experiment.title = fmt::format("Retrieval of pictures: {}", set_.name);
    experiment.data["set"] = set_.name;
    experiment.data["features"] = describer_.settings().kind;
    experiment.data["extractor"] = DescribeExtractor(describer_.settings());
    if (options_.reduced > 0) experiment.data["reduced"] = options_.reduced;
    if (views) experiment.data["view_plan"] = DescribeViews(options_.views);
    experiment.data["gmp_cosine_mAP"] = CosineMap(joint, joint_options.mu);
    return experiment;
  }

 private:
  // Learned from the training pictures, views aside.
  LocalPca Reduction() const {
    const std::vector<FoundPicture> pictures =
        FirstPictures(env_, set_.training, options_.limit, context_);
    const std::string digest = DigestOf(describer_.digest(), pictures);
    // What fails here is reported when all are described.
    const auto describe = [&](size_t i) {
      return FeaturesIfAny(env_, describer_, set_.training / pictures[i].path);
    };
    env_.MakeFolders(options_.work);
    return KeptReduction(env_, options_.work / ("reduction-" + digest),
                         {.dimension = options_.reduced}, pictures.size(), describe, context_);
  }

  FeatureFile Features(const fs::path& folder, const std::string& name, Index limit,
                       const ViewPlan& views) const {
    return KeptPictureFeatures(env_, describer_, folder, name, limit, options_.work, context_, say_,
                               views);
  }

  // The features as they are pooled; `raw` must outlive them.
  std::shared_ptr<const FeatureSet> Embedded(const FeatureSet& raw) const {
    if (embedding_) return std::make_shared<EmbeddedFeatures>(raw, embedding_);
    return {std::shared_ptr<const void>(), &raw};
  }

  static std::vector<std::string> NamesOf(const FeatureFile& database) {
    std::vector<std::string> names;
    for (Index image = 0; image < database.size(); ++image) names.push_back(database.name(image));
    return names;
  }

  static std::vector<std::string> QueryNames(const RetrievalTask& task,
                                             const FeatureFile& database) {
    std::vector<std::string> names;
    for (const PictureQuery& query : task.queries) names.push_back(database.name(query.picture));
    return names;
  }

  RetrievalTask LoadTask(const FeatureFile& database) const {
    const std::vector<std::string> names = NamesOf(database);
    return set_.name == "holidays" ? MakeHolidaysTask(names)
                                   : LoadOxfordTask(env_, set_.truth, names);
  }

  // As many images to learn from as `tune` takes, or fewer where their records would not fit.
  Index TuningImages(const FeatureSet& features) const {
    uint64_t bytes = 0;
    for (Index image = 0; image < features.size(); ++image) {
      bytes += ImageRecord::PackedBytes(features.dimension(),
                                        std::max<Index>(1, features.descriptor_count(image)),
                                        PrecisionFor(options_.normalise));
    }
    const uint64_t mean = std::max<uint64_t>(1, bytes / static_cast<uint64_t>(features.size()));
    const TuneOptions defaults;
    return std::clamp<Index>(static_cast<Index>(options_.memory / mean) - defaults.validation, 2,
                             defaults.training);
  }

  // The constants of the methods that have some, from the training pictures.
  void Tune(const FeatureSet& raw, const FeatureSet* views, JointOptions& joint) const {
    say_("choosing constants on the training pictures");
    const auto features = Embedded(raw);
    TuneOptions tuning;
    tuning.settings.bits = options_.tune_bits;
    tuning.settings.options["normalise"] = options_.normalise ? 1 : 0;
    tuning.training = TuningImages(*features);
    tuning.seeds = 1;
    tuning.rounds = 1;
    ChooseConstants(tuning, *features, views, joint, context_);
  }

  // The queries of Oxford and Paris: the parts of pictures inside their boxes.
  MemoryFeatureSet CroppedQueries(const RetrievalTask& task, const FeatureFile& database) const {
    MemoryFeatureSet queries(describer_.dimension());
    for (const PictureQuery& query : task.queries) {
      context_.ThrowIfStopped();
      const fs::path file = set_.pictures / database.name(query.picture);
      const std::vector<std::byte> bytes = env_.Read(file, MaxPictureBytes());
      const Picture picture = describer_.Decode(bytes);
      const double scale =
          static_cast<double>(picture.width) / static_cast<double>(describer_.Inspect(bytes).width);
      const MatrixF features = describer_.Describe(PartInBox(picture, *query.box, scale));
      if (features.cols() == 0) {
        throw Error(
            ErrorCode::kInvalidArgument,
            fmt::format("query {}, {}: its box has {}", query.name, file.string(), kNoFeatures));
      }
      queries.Add(query.name, features);
    }
    return queries;
  }

  std::unique_ptr<RecordStore> Reduce(const FeatureSet& raw, const char* part) const {
    const auto features = Embedded(raw);
    auto records =
        MakeRecordStore(env_, *features, PrecisionFor(options_.normalise), options_.memory,
                        options_.work / fmt::format("{}.records", part));
    ReduceImages(*features, options_.normalise, *records, context_);
    return records;
  }

  double CosineMap(const JointTask& task, double mu) const {
    const PoolingSystem gmp(Coupling::None(task.database.dimension()), {.mu = mu});
    MatrixF database = PoolRecords(task.database, gmp, context_);
    database.colwise().normalize();
    MatrixF queries;
    if (task.queries != nullptr) {
      queries = PoolRecords(*task.queries, gmp, context_);
      queries.colwise().normalize();
    } else {
      queries = database(Eigen::all, task.query_images);
    }
    const auto distances = [&](Index query, std::span<float> out) {
      Eigen::Map<VectorF>(out.data(), static_cast<Index>(out.size())) =
          -(database.transpose() * queries.col(query));
    };
    return 100 * EvaluateDistances(distances, task.truth, task.protocol, context_).mean_ap;
  }

  Env& env_;
  const RetrievalOptions& options_;
  const RetrievalSet& set_;
  const RunContext& context_;
  const std::function<void(const std::string&)>& say_;
  PictureDescriber describer_;
  std::optional<TriangulationEmbedding> embedding_;
};

}  // namespace

void RetrievalOptions::Validate() const {
  joint.Validate();
  extractor.Validate();
  embedding.Validate();
  views.Validate();
  RequireBits(tune_bits);
  if (reduced < 0 || (reduced > 0 && extractor.kind != "cnn")) {
    throw Error(ErrorCode::kInvalidArgument,
                "reduced: expected 0, or dimensions for features of a network");
  }
  if (sample < 1 || limit < 0 || searched < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected at least one descriptor for the embedding, and limits of 0 or more");
  }
}

FeatureFile KeptPictureFeatures(Env& env, const PictureDescriber& describer, const fs::path& folder,
                                const std::string& name, Index limit, const fs::path& work,
                                const RunContext& context,
                                const std::function<void(const std::string&)>& say,
                                const ViewPlan& views) {
  std::string key = describer.digest() + fmt::format(" {}", limit);
  if (views.count > 0) key += DescribeViews(views).dump();
  const std::string digest = DigestOf(key, FindPictures(env, folder, context));
  const fs::path file = work / fmt::format("{}-{}.bpf", name, digest);
  if (!env.Exists(file)) {
    env.MakeFolders(work);
    say(fmt::format("describing the pictures of {}, kept in {}", folder.string(), file.string()));
    PictureExtraction job;
    job.folder = folder;
    job.output = file;
    job.limit = limit;
    job.resume = true;
    job.views = views;
    for (const FailedPicture& failed : ExtractPictures(env, describer, job, context).failed) {
      say(fmt::format("{}: {}", failed.path.string(), failed.reason));
    }
  }
  return FeatureFile::Open(env, file);
}

Experiment RunRetrievalExperiment(Env& env, const RetrievalOptions& options,
                                  const RetrievalSet& set, const RunContext& context,
                                  const std::function<void(const std::string&)>& say) {
  options.Validate();
  if ((set.name == "holidays") != set.truth.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected a folder of ground-truth files for oxford5k and paris6k, and none for "
                "holidays");
  }
  return RetrievalRunner(env, options, set, context, say).Run();
}

}  // namespace bitpool
