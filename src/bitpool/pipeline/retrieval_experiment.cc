#include "bitpool/pipeline/retrieval_experiment.h"

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
#include "bitpool/eval/evaluate.h"
#include "bitpool/io/checksum.h"
#include "bitpool/pipeline/extract_pictures.h"
#include "bitpool/pipeline/picture_files.h"
#include "bitpool/pipeline/record_file.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// A feature set whose descriptors are embedded when they are read.
class EmbeddedFeatures : public FeatureSet {
 public:
  EmbeddedFeatures(const FeatureSet& raw, const TriangulationEmbedding& embedding)
      : raw_(raw), embedding_(embedding) {}

  Index size() const override { return raw_.size(); }
  Index dimension() const override { return embedding_.dimension(); }
  std::string name(Index image) const override { return raw_.name(image); }
  Index descriptor_count(Index image) const override { return raw_.descriptor_count(image); }
  void Read(Index image, MatrixF& descriptors) const override {
    MatrixF raw;
    raw_.Read(image, raw);
    descriptors = embedding_.Apply(raw);
  }

 private:
  const FeatureSet& raw_;
  const TriangulationEmbedding& embedding_;
};

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
Picture Crop(const Picture& picture, const Box& box, double scale) {
  const auto clamp = [](double value, Index end) {
    return std::clamp<Index>(static_cast<Index>(std::lround(value)), 0, end);
  };
  const Index left = clamp(box.left * scale, picture.width - 1);
  const Index top = clamp(box.top * scale, picture.height - 1);
  const Index right = std::max(left + 1, clamp(box.right * scale, picture.width));
  const Index bottom = std::max(top + 1, clamp(box.bottom * scale, picture.height));
  Picture part{.width = right - left, .height = bottom - top, .pixels = {}};
  for (Index y = top; y < bottom; ++y) {
    const auto row = picture.pixels.begin() + 3 * (y * picture.width + left);
    part.pixels.insert(part.pixels.end(), row, row + 3 * part.width);
  }
  return part;
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
    const FeatureFile training = Features(set_.training, "training", options_.limit);
    const FeatureFile database = Features(set_.pictures, set_.name, 0);
    RetrievalTask task = LoadTask(database);
    if (describer_.settings().kind != "cnn") {
      say_("learning the embedding");
      const MatrixF sample = SampleDescriptors(training, options_.sample, context_);
      embedding_ = TrainTriangulation(options_.embedding, MatrixColumns(sample), context_).model;
    }
    const auto training_records = Reduce(training, "training");
    const auto database_records = Reduce(database, "database");
    std::unique_ptr<RecordStore> query_records;
    std::vector<Index> query_images;
    if (task.queries.at(0).box) {
      query_records = Reduce(CroppedQueries(task, database), "queries");
    } else {
      for (const PictureQuery& query : task.queries) query_images.push_back(query.picture);
    }
    const JointTask joint{.training = *training_records,
                          .database = *database_records,
                          .queries = query_records.get(),
                          .query_images = query_images,
                          .truth = task.truth,
                          .protocol = HolidaysProtocol(),
                          .normalise = options_.normalise};
    Experiment experiment = RunJointExperiment(options_.joint, joint, context_);
    experiment.name = "retrieval";
    experiment.title = fmt::format("Retrieval of pictures: {}", set_.name);
    experiment.data["set"] = set_.name;
    experiment.data["features"] = describer_.settings().kind;
    experiment.data["extractor"] = DescribeExtractor(describer_.settings());
    experiment.data["gmp_cosine_mAP"] = CosineMap(joint);
    return experiment;
  }

 private:
  // The features of a folder's pictures, from the last run or extracted now.
  FeatureFile Features(const fs::path& folder, const std::string& name, Index limit) const {
    std::string key = describer_.digest() + fmt::format(" {}", limit);
    for (const FoundPicture& picture : FindPictures(folder, context_)) {
      key += fmt::format("\n{} {} {}", picture.path, picture.size, picture.mtime_ns);
    }
    const std::string digest = ContentDigest(std::as_bytes(std::span(key))).substr(0, 12);
    const fs::path file = options_.work / fmt::format("{}-{}.bpf", name, digest);
    if (!env_.Exists(file)) {
      env_.MakeFolders(options_.work);
      say_(
          fmt::format("describing the pictures of {}, kept in {}", folder.string(), file.string()));
      PictureExtraction job;
      job.folder = folder;
      job.output = file;
      job.limit = limit;
      job.resume = true;
      for (const FailedPicture& failed : ExtractPictures(env_, describer_, job, context_).failed) {
        say_(fmt::format("{}: {}", failed.path.string(), failed.reason));
      }
    }
    return FeatureFile::Open(env_, file);
  }

  RetrievalTask LoadTask(const FeatureFile& database) const {
    std::vector<std::string> names;
    for (Index image = 0; image < database.size(); ++image) names.push_back(database.name(image));
    return set_.name == "holidays" ? MakeHolidaysTask(names)
                                   : LoadOxfordTask(env_, set_.truth, names);
  }

  // The queries of Oxford and Paris: the parts of pictures inside their boxes.
  MemoryFeatureSet CroppedQueries(const RetrievalTask& task, const FeatureFile& database) const {
    MemoryFeatureSet queries(describer_.dimension());
    for (const PictureQuery& query : task.queries) {
      context_.ThrowIfStopped();
      const fs::path file = set_.pictures / database.name(query.picture);
      const std::vector<std::byte> bytes = ReadPictureBytes(file, MaxPictureBytes());
      const Picture picture = describer_.Decode(bytes);
      const double scale =
          static_cast<double>(picture.width) / static_cast<double>(describer_.Inspect(bytes).width);
      queries.Add(query.name, describer_.Describe(Crop(picture, *query.box, scale)));
    }
    return queries;
  }

  std::unique_ptr<RecordStore> Reduce(const FeatureSet& raw, const char* part) const {
    std::optional<EmbeddedFeatures> embedded;
    if (embedding_) embedded.emplace(raw, *embedding_);
    const FeatureSet& features = embedded ? static_cast<const FeatureSet&>(*embedded) : raw;
    auto records = MakeRecordStore(env_, features, options_.memory,
                                   options_.work / fmt::format("{}.records", part));
    ReduceImages(features, options_.normalise, *records, context_);
    return records;
  }

  double CosineMap(const JointTask& task) const {
    const PoolingSystem gmp(Coupling::None(task.database.dimension()), {.mu = options_.joint.mu});
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
  if (sample < 1 || limit < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected at least one descriptor for the embedding, and a limit of 0 or more");
  }
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
