#include "quantisation_bench.h"

#include <map>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/holidays.h"
#include "bitpool/experiments/code_evaluation.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/report/experiment_result.h"
#include "bitpool/training/methods.h"
#include "faiss_peer.h"

namespace bitpool::bench {
namespace {

struct Pictures {
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
  Pictures pictures{.training = MemoryRecords(training.dimension()),
                    .database = MemoryRecords(database.dimension()),
                    .queries = {},
                    .truth = std::move(task.truth)};
  for (const PictureQuery& query : task.queries) pictures.queries.push_back(query.picture);
  ReduceImages(training, true, pictures.training, context);
  ReduceImages(database, true, pictures.database, context);
  return pictures;
}

MethodSettings SahSettings(const QuantisationBenchOptions& options, int bits) {
  MethodSettings settings = options.sah;
  settings.method = "sah";
  settings.bits = bits;
  settings.options.emplace("mu", options.mu);
  return settings;
}

// The mAP of each way, in percent, for every seed.
using Figures = std::map<std::string, std::vector<double>>;

void AskSah(const MethodSettings& settings, const Pictures& pictures, const RunContext& context,
            Figures& figures) {
  const HashModel model = TrainOnRecords(settings, {.records = pictures.training}, context).model;
  const MatrixF database = PoolRecords(pictures.database, PoolingOf(model), context);
  const MatrixF queries = database(Eigen::all, pictures.queries);
  const CodeEvaluation found =
      EvaluateBothWays(EncodeAll(*model.encoder, MatrixColumns(database), context),
                       EncodeBatch(*model.encoder, MatrixColumns(queries), context), pictures.truth,
                       HolidaysProtocol(), context);
  figures["sah"].push_back(100 * found.hamming.mean_ap);
  figures["sah_asymmetric"].push_back(100 * found.asymmetric.mean_ap);
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
  const PoolingSystem gmp(Coupling::None(pictures.training.dimension()), {.mu = options.mu});
  const MatrixF training = PoolRecords(pictures.training, gmp, context);
  const MatrixF database = PoolRecords(pictures.database, gmp, context);
  nlohmann::json results = nlohmann::json::array();
  for (const int bits : options.bits) {
    Figures figures;
    for (int run = 0; run < options.seeds; ++run) {
      const RunContext seeded =
          context.WithSeed(context.seed() + static_cast<uint64_t>(run)).WithoutProgress();
      AskSah(SahSettings(options, bits), pictures, seeded, figures);
      if (!HaveFaiss()) continue;
      AskFaiss(training, database, pictures, bits, "", seeded, figures);
      AskFaiss(training.colwise().normalized(), database.colwise().normalized(), pictures, bits,
               "_unit", seeded, figures);
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
