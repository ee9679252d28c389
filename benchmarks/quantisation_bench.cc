#include "quantisation_bench.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/holidays.h"
#include "bitpool/experiments/code_evaluation.h"
#include "bitpool/experiments/comparison.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/view_whitening.h"
#include "bitpool/report/experiment_result.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/pooled_vectors.h"
#include "faiss_peer.h"

namespace bitpool::bench {
namespace {

struct Pictures {
  FeatureFile images;  // to learn from, with their views
  FeatureFile database_images;
  MemoryRecords training, database;
  std::vector<Index> queries;  // of the database
  ListedTruth truth;
};

Pictures Load(const QuantisationBenchOptions& options, const RunContext& context) {
  const FeatureFile training = FeatureFile::Open(Env::Posix(), options.training);
  const FeatureFile database = FeatureFile::Open(Env::Posix(), options.database);
  std::vector<std::string> names;
  for (Index image = 0; image < database.size(); ++image) names.push_back(database.name(image));
  RetrievalTask task = MakeHolidaysTask(names);
  Pictures pictures{.images = training,
                    .database_images = database,
                    .training = MemoryRecords(training.dimension()),
                    .database = MemoryRecords(database.dimension()),
                    .queries = {},
                    .truth = std::move(task.truth)};
  for (const PictureQuery& query : task.queries) pictures.queries.push_back(query.picture);
  ReduceImages(FeatureSubset::WithoutViews(training), true, pictures.training, context);
  ReduceImages(database, true, pictures.database, context);
  return pictures;
}

MethodSettings SettingsOf(const QuantisationBenchOptions& options, const std::string& name,
                          int bits) {
  const auto found = std::ranges::find(options.constants, name, NameIn);
  MethodSettings settings = found == options.constants.end() ? SettingsNamed(name) : *found;
  settings.bits = bits;
  settings.options.emplace("mu", options.mu);
  return settings;
}

// The mAP of each way, in percent, for every seed.
using Figures = std::map<std::string, std::vector<double>>;

void AskCodes(const MethodSettings& settings, const Pictures& pictures, RecordTrainer& trainer,
              const RunContext& context, Figures& figures) {
  const HashModel model = trainer.Train(settings, context);
  const MatrixF database = VectorsFor(model, pictures.database, &pictures.database_images, context);
  const MatrixF queries = database(Eigen::all, pictures.queries);
  const CodeEvaluation found =
      EvaluateBothWays(EncodeAll(*model.encoder, MatrixColumns(database), context),
                       EncodeBatch(*model.encoder, MatrixColumns(queries), context), pictures.truth,
                       HolidaysProtocol(), context);
  figures[NameIn(settings)].push_back(100 * found.hamming.mean_ap);
  figures[NameIn(settings) + "_asymmetric"].push_back(100 * found.asymmetric.mean_ap);
}

void AskFaiss(const MatrixF& training, const MatrixF& database, const Pictures& pictures, int bits,
              const std::string& suffix, const RunContext& context, Figures& figures) {
  for (const bool rotate : {false, true}) {
    const MatrixF distances =
        FaissQuantisedDistances(training, database, database(Eigen::all, pictures.queries), bits,
                                rotate, context.seed(), context.threads());
    const auto read = [&](Index query, std::span<float> out) {
      Eigen::Map<VectorF>(out.data(), distances.rows()) = distances.col(query);
    };
    const Evaluation found = EvaluateDistances(read, pictures.truth, HolidaysProtocol(), context);
    figures[(rotate ? "faiss_opq" : "faiss_pq") + suffix].push_back(100 * found.mean_ap);
  }
}

// What Faiss quantises: vectors to learn from and those of the database.
struct Vectors {
  std::string suffix;  // of the names of the ways
  MatrixF training, database;
};

std::vector<Vectors> VectorsFor(const Pictures& pictures, double mu, const RunContext& context) {
  const PoolingSystem gmp(Coupling::None(pictures.training.dimension()), {.mu = mu});
  std::vector<Vectors> all = {{.suffix = "",
                               .training = PoolRecords(pictures.training, gmp, context),
                               .database = PoolRecords(pictures.database, gmp, context)}};
  all.push_back({.suffix = "_unit",
                 .training = all[0].training.colwise().normalized(),
                 .database = all[0].database.colwise().normalized()});
  if (pictures.images.images_per_picture() == 1) return all;
  const MatrixF images = PoolImages(gmp, true, pictures.images, context).vectors;
  const MatrixColumns columns(images);
  const ViewWhitening whitening = LearnWhitening(
      {}, {.vectors = columns, .per_picture = pictures.images.images_per_picture()}, context);
  const auto whiten = [&](const MatrixF& vectors) -> MatrixF {
    return (whitening.forward.weights * vectors).colwise() + whitening.forward.bias;
  };
  all.push_back({.suffix = "_whitened",
                 .training = whiten(all[0].training),
                 .database = whiten(all[0].database)});
  return all;
}

}  // namespace

void QuantisationBenchOptions::Validate() const {
  if (training.empty() || database.empty() || seeds < 1 || bits.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected local features to learn from and of the database, a length and a seed");
  }
  for (const int length : bits) {
    if (length > 0 && length % 8 == 0) continue;
    throw Error(ErrorCode::kInvalidArgument, "bits: expected multiples of 8");
  }
}

nlohmann::json RunQuantisationBench(const QuantisationBenchOptions& options,
                                    const RunContext& context) {
  options.Validate();
  const Pictures pictures = Load(options, context);
  const std::vector<Vectors> vectors = VectorsFor(pictures, options.mu, context);
  std::vector<std::string> methods = {"sah"};
  if (pictures.images.images_per_picture() > 1) {
    methods.insert(methods.end(), {"itq+views", "sav"});
  }
  RecordTrainer trainer(pictures.training, nullptr, &pictures.images);
  nlohmann::json results = nlohmann::json::array();
  for (const int bits : options.bits) {
    Figures figures;
    for (int run = 0; run < options.seeds; ++run) {
      const RunContext seeded =
          context.WithSeed(context.seed() + static_cast<uint64_t>(run)).WithoutProgress();
      for (const std::string& name : methods) {
        AskCodes(SettingsOf(options, name, bits), pictures, trainer, seeded, figures);
      }
      if (!HaveFaiss()) continue;
      for (const Vectors& each : vectors) {
        AskFaiss(each.training, each.database, pictures, bits, each.suffix, seeded, figures);
      }
    }
    for (const auto& [way, values] : figures) {
      const ExperimentResult found = SummariseRuns(way, bits, "mAP", values);
      results.push_back(
          {{"way", way}, {"bits", bits}, {"mAP", found.mean}, {"spread", found.spread}});
    }
  }
  return {{"results", results},
          {"training_images", pictures.training.size()},
          {"database_images", pictures.database.size()},
          {"queries", pictures.queries.size()},
          {"seeds", options.seeds},
          {"mu", options.mu},
          {"machine", DescribeMachine(FactsOfThisMachine(context))}};
}

}  // namespace bitpool::bench
