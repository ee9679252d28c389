#include "bitpool/experiments/showcase.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/experiments/code_evaluation.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/experiments/set_pictures.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/index/code_index.h"
#include "bitpool/pool/simple_pooling.h"
#include "bitpool/report/data_uri.h"
#include "bitpool/report/report.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/pooled_vectors.h"

namespace bitpool {
namespace {

constexpr int64_t kNearest = 100;
// Pictures that are described between two checks for a stop.
constexpr Index kShowcaseWave = 4096;

// What the methods need of the pictures of one part.
struct DescribedPictures {
  MemoryRecords records{128};
  MatrixF means;            // of the descriptors of each picture
  std::vector<Index> kept;  // those that have descriptors
  Labels labels;            // of those
  double seconds = 0;       // that describing them took
};

DescribedPictures Describe(const DenseSift& sift, const LabelledPictures& pictures, Index count,
                           const RunContext& context) {
  const Stopwatch watch;
  DescribedPictures described;
  std::vector<VectorF> means;
  Progress progress =
      context.StartProgress("dense RootSIFT", "pictures", static_cast<uint64_t>(count));
  for (Index first = 0; first < count; first += kShowcaseWave) {
    const auto wave = static_cast<size_t>(std::min(kShowcaseWave, count - first));
    std::vector<std::vector<std::byte>> records(wave);
    std::vector<VectorF> wave_means(wave);
    context.ParallelFor(wave, 16, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        MatrixF descriptors = sift.Extract(PictureAt(pictures, first + static_cast<Index>(i)));
        progress.Advance();
        if (descriptors.cols() == 0) continue;
        NormaliseColumns(descriptors);
        wave_means[i] = MeanPooling(descriptors);
        records[i] = ImageRecord::Reduce(descriptors).Pack();
      }
    });
    for (size_t i = 0; i < wave; ++i) {
      if (records[i].empty()) continue;
      described.kept.push_back(first + static_cast<Index>(i));
      means.push_back(std::move(wave_means[i]));
      described.records.Append(std::move(records[i]));
    }
  }
  described.records.Finish();
  described.means.resize(sift.dimension(), static_cast<Index>(means.size()));
  for (size_t i = 0; i < means.size(); ++i) {
    described.means.col(static_cast<Index>(i)) = means[i];
  }
  described.labels = pictures.labels.Select(described.kept);
  described.seconds = watch.seconds();
  return described;
}

// A method at work: its model, the codes of the database, and what it makes of the queries.
struct Trial {
  HashModel model;
  BinaryCodes database{1};
  EncodedVectors queries;
};

class Showcase {
 public:
  Showcase(const ShowcaseOptions& options, DescribedPictures database, DescribedPictures queries,
           const RunContext& context)
      : options_(options),
        database_(std::move(database)),
        queries_(std::move(queries)),
        truth_(queries_.labels, database_.labels),
        context_(context) {}

  const DescribedPictures& database() const { return database_; }
  const DescribedPictures& queries() const { return queries_; }

  // Measures one method, which `run` trains and has encode.
  Trial Measure(const std::string& name, const std::function<Trial(double& training)>& run,
                Experiment& experiment) const {
    double training = 0;
    Trial trial = run(training);
    const Stopwatch watch;
    Search(trial);
    const double search = watch.seconds();
    Protocol protocol = HashingProtocol();
    protocol.at = {kNearest};
    const CodeEvaluation found = EvaluateBothWays(trial.database, trial.queries, truth_, protocol,
                                                  context_.WithoutProgress());
    const auto add = [&](const char* metric, double figure) {
      experiment.results.push_back(SummariseRuns(name, options_.bits, metric, {figure}));
    };
    add(kMap, 100 * found.hamming.mean_ap);
    add(kAsymmetricMap, 100 * found.asymmetric.mean_ap);
    add("precision_at_100", 100 * found.hamming.precision_at.at(0));
    add("asymmetric_precision_at_100", 100 * found.asymmetric.precision_at.at(0));
    add("training_seconds", training);
    add("search_seconds", search);
    return trial;
  }

  Trial OnMeans(double& training) const {
    const Stopwatch watch;
    const MatrixColumns means(database_.means);
    HashModel model =
        TrainOnVectors({.method = "itq", .bits = options_.bits}, {.vectors = means}, context_)
            .model;
    training = watch.seconds();
    return Encode(std::move(model), database_.means, queries_.means);
  }

  // From the local features; what is pooled before it is hashed is pooled in the time of training.
  Trial OnLocalFeatures(const char* method, OptionValues constants, double& training) const {
    const Stopwatch watch;
    HashModel model =
        RecordTrainer(database_.records, &database_.labels)
            .Train({.method = method, .bits = options_.bits, .options = std::move(constants)},
                   context_);
    training = watch.seconds();
    const PoolingSystem pooling = PoolingOf(model);
    const MatrixF database = PoolRecords(database_.records, pooling, context_);
    return Encode(std::move(model), database, PoolRecords(queries_.records, pooling, context_));
  }

  RealSearchResult Search(const Trial& trial) const {
    const RunContext quiet = context_.WithoutProgress();
    const auto index = MakeIndex(trial.database, IndexKind::kAuto, quiet);
    return index->SearchReal(trial.queries.projections, kNearest, {.how = RealSearch::kExact},
                             quiet);
  }

 private:
  Trial Encode(HashModel model, const MatrixF& database, const MatrixF& queries) const {
    const RunContext quiet = context_.WithoutProgress();
    BinaryCodes codes = EncodeAll(*model.encoder, MatrixColumns(database), quiet);
    EncodedVectors asking = EncodeBatch(*model.encoder, MatrixColumns(queries), quiet);
    return {.model = std::move(model), .database = std::move(codes), .queries = std::move(asking)};
  }

  const ShowcaseOptions& options_;
  DescribedPictures database_, queries_;
  LabelTruth truth_;
  const RunContext& context_;
};

// Queries spread evenly over all, as pictures of the set.
std::vector<ShownQuery> Show(const ShowcaseOptions& options, const Showcase& showcase,
                             const Trial& trial) {
  const RealSearchResult found = showcase.Search(trial);
  const Index queries = trial.queries.codes.size();
  std::vector<ShownQuery> shown;
  for (Index i = 0; i < std::min(options.shown, queries); ++i) {
    const Index query = i * queries / options.shown;
    ShownQuery one{.query = showcase.queries().kept[static_cast<size_t>(query)], .results = {}};
    for (ScoredNeighbour result : found.of(query).first(static_cast<size_t>(options.results))) {
      if (result.id < 0) break;
      result.id = showcase.database().kept[static_cast<size_t>(result.id)];
      one.results.push_back(result);
    }
    shown.push_back(std::move(one));
  }
  return shown;
}

std::string PictureSource(const LabelledPictures& set, Index picture) {
  return DataUri("image/jpeg", EncodeJpeg(PictureAt(set, picture), 90));
}

}  // namespace

void ShowcaseOptions::Validate() const {
  RequireBits(bits);
  sift.Validate();
  if (!(mu > 0) || queries < 0 || shown < 0 || results < 1 || results > kNearest) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("expected a positive mu, and 1 to {} results of each query shown", kNearest));
  }
}

ShowcaseResult RunShowcase(const ShowcaseOptions& options, const std::string& set,
                           const PublicPictures& pictures, const RunContext& context) {
  options.Validate();
  const DenseSift sift(options.sift);
  const Index test = pictures.test.labels.size();
  const Showcase showcase(
      options, Describe(sift, pictures.train, pictures.train.labels.size(), context),
      Describe(sift, pictures.test, options.queries == 0 ? test : std::min(options.queries, test),
               context),
      context);
  ShowcaseResult result;
  Experiment& experiment = result.experiment;
  experiment.name = "showcase";
  experiment.title = "From pictures to answers: " + set;
  experiment.settings = {{"bits", options.bits},
                         {"features", "dense RootSIFT"},
                         {"step", options.sift.step},
                         {"bin_sizes", options.sift.bin_sizes},
                         {"mu", options.mu},
                         {"seed", context.seed()},
                         {"protocol", HashingProtocol().Describe()}};
  experiment.data = {
      {"set", set},
      {"database", showcase.database().records.size()},
      {"queries", showcase.queries().records.size()},
      {"extraction_seconds", showcase.database().seconds + showcase.queries().seconds}};
  experiment.machine = DescribeMachine(FactsOfThisMachine(context));
  const auto measure = [&](const char* name, const std::function<Trial(double&)>& run) {
    context.ThrowIfStopped();
    return showcase.Measure(name, run, experiment);
  };
  measure("ITQ on mean", [&](double& t) { return showcase.OnMeans(t); });
  const OptionValues pooling = {{"mu", options.mu}};
  measure("ITQ on GMP", [&](double& t) { return showcase.OnLocalFeatures("itq", pooling, t); });
  measure("RBA on GMP", [&](double& t) { return showcase.OnLocalFeatures("rba", pooling, t); });
  const Trial sah =
      measure("SAH", [&](double& t) { return showcase.OnLocalFeatures("sah", pooling, t); });
  measure("SASH, with labels", [&](double& t) { return showcase.OnLocalFeatures("sash", {}, t); });
  result.shown = Show(options, showcase, sah);
  return result;
}

ReportTable ShowcaseTable(const Experiment& experiment) {
  ReportTable table;
  table.header = {"Method"};
  const auto add = [&](const char* metric, const char* format, bool higher, const char* title) {
    const ReportTable column = TableOf(experiment, metric, format, higher);
    table.header.emplace_back(title);
    table.rows.resize(column.rows.size());
    for (size_t row = 0; row < column.rows.size(); ++row) {
      if (table.rows[row].empty()) table.rows[row].push_back(column.rows[row].at(0));
      table.rows[row].push_back(column.rows[row].at(1));
    }
  };
  add(kMap, "{:.2f}", true, "mAP, %");
  add(kAsymmetricMap, "{:.2f}", true, "asymmetric mAP, %");
  add("precision_at_100", "{:.2f}", true, "precision at 100, %");
  add("asymmetric_precision_at_100", "{:.2f}", true, "asymmetric, %");
  add("training_seconds", "{:.1f}", false, "training, s");
  add("search_seconds", "{:.2f}", false, "search, s");
  return table;
}

std::string ShowcaseReport(const ShowcaseResult& result, const PublicPictures& pictures) {
  const Experiment& experiment = result.experiment;
  Report report(experiment.title,
                "Pictures become local features, these one vector and its binary code, learned "
                "together, and the codes an index that answers with the most similar pictures.");
  report.AddSection("Accuracy and time");
  report.AddTable(ShowcaseTable(experiment));
  report.AddParagraph(
      "Right is a picture of the same class. Asymmetric: the queries are real numbers that weigh "
      "the bits of the stored codes. Training counts the pooling it needs; the search indexes the "
      "database and finds the 100 best of all queries, asymmetrically.");
  report.AddSection("What SAH finds");
  report.AddParagraph("A test picture and its nearest; framed are those of its class.");
  for (const ShownQuery& shown : result.shown) {
    const auto wanted = pictures.test.labels.of(shown.query);
    std::vector<ReportPicture> strip = {
        {.source = PictureSource(pictures.test, shown.query), .caption = "query"}};
    for (const ScoredNeighbour& found : shown.results) {
      strip.push_back({.source = PictureSource(pictures.train, found.id),
                       .caption = fmt::format("score {:.1f}", found.score),
                       .emphasised = ShareClass(wanted, pictures.train.labels.of(found.id))});
    }
    report.AddPictures("", strip);
  }
  AddHowItWasMeasured(experiment, report);
  return report.Html();
}

}  // namespace bitpool
