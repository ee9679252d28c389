#include "bitpool/metrics/evaluate.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "bitpool/dataset/label_file.h"
#include "bitpool/dataset/neighbour_file.h"
#include "bitpool/dataset/vector_file.h"
#include "bitpool/index/code_files.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/samples/ground_truth.h"
#include "choice.h"
#include "subcommands.h"
#include "table.h"

namespace bitpool::app {
namespace {

struct EvalOptions {
  std::string database_codes, queries_codes, queries_real, truth, labels, query_labels;
  std::optional<int> bits;
  Protocol protocol = HashingProtocol();
  bool curve = false;
};

std::unique_ptr<GroundTruth> LoadTruth(const EvalOptions& options, Index database_size) {
  Env& env = Env::Posix();
  if (options.truth.empty() == options.labels.empty() ||
      options.labels.empty() != options.query_labels.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected either --truth, or --labels together with --query-labels");
  }
  if (!options.truth.empty()) {
    return std::make_unique<ListedTruth>(LoadNeighbours(env, options.truth, database_size));
  }
  return std::make_unique<LabelTruth>(LoadLabels(env, options.query_labels),
                                      LoadLabels(env, options.labels));
}

// A mean over no queries is not a number.
nlohmann::json Number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json ToJson(const EvalOptions& options, const Evaluation& found) {
  nlohmann::json result = {{"mAP", Number(found.mean_ap)},
                           {"protocol", options.protocol.Describe()},
                           {"asymmetric", !options.queries_real.empty()},
                           {"queries", found.ap.size()},
                           {"queries_without_relevant", found.queries_without_relevant},
                           {"at", nlohmann::json::array()},
                           {"curve", nlohmann::json::array()}};
  for (size_t i = 0; i < options.protocol.at.size(); ++i) {
    result["at"].push_back({{"k", options.protocol.at[i]},
                            {"precision", Number(found.precision_at[i])},
                            {"recall", Number(found.recall_at[i])}});
  }
  for (size_t radius = 0; radius < found.curve.size(); ++radius) {
    result["curve"].push_back({{"radius", radius},
                               {"precision", Number(found.curve[radius].precision)},
                               {"recall", Number(found.curve[radius].recall)},
                               {"answered", Number(found.curve[radius].answered)}});
  }
  return result;
}

std::string Readable(const EvalOptions& options, const Evaluation& found) {
  std::string text = fmt::format("mAP {:.2f} %  ({} queries", 100 * found.mean_ap, found.ap.size());
  if (found.queries_without_relevant > 0) {
    text += fmt::format(", {} of them without a right answer and left out",
                        found.queries_without_relevant);
  }
  text += fmt::format(")\n{}\n", options.protocol.Describe());
  std::vector<std::vector<std::string>> rows = {{"k", "precision %", "recall %"}};
  for (size_t i = 0; i < options.protocol.at.size(); ++i) {
    rows.push_back({std::to_string(options.protocol.at[i]),
                    fmt::format("{:.2f}", 100 * found.precision_at[i]),
                    fmt::format("{:.2f}", 100 * found.recall_at[i])});
  }
  if (rows.size() > 1) text += FormatTable(rows);
  if (!options.curve) return text;
  rows = {{"radius", "precision %", "recall %", "answered %"}};
  for (size_t radius = 0; radius < found.curve.size(); ++radius) {
    const RadiusPoint& point = found.curve[radius];
    rows.push_back({std::to_string(radius), fmt::format("{:.2f}", 100 * point.precision),
                    fmt::format("{:.2f}", 100 * point.recall),
                    fmt::format("{:.2f}", 100 * point.answered)});
  }
  return text + FormatTable(rows);
}

Evaluation Ask(const EvalOptions& options, const BinaryCodes& database, const GroundTruth& truth,
               const RunContext& context) {
  Env& env = Env::Posix();
  if (options.queries_real.empty()) {
    const BinaryCodes queries = LoadCodes(env, options.queries_codes, database.bits());
    return EvaluateCodes(database, queries, truth, options.protocol, context);
  }
  const VectorFile weights(OpenSamples(env, options.queries_real));
  return NamingTheFile(options.queries_real, [&] {
    MatrixF buffer;
    return EvaluateAsymmetric(database, weights.Read(0, weights.size(), buffer), truth,
                              options.protocol, context);
  });
}

int Evaluate(const EvalOptions& options, const Session& session) {
  Env& env = Env::Posix();
  options.protocol.Validate();
  if (options.queries_codes.empty() == options.queries_real.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "expected either --queries-codes or --asymmetric");
  }
  if (options.curve && !options.queries_real.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "--curve: radii are those of Hamming distances, expected --queries-codes");
  }
  const BinaryCodes database = LoadCodes(env, options.database_codes, options.bits);
  const auto truth = LoadTruth(options, database.size());
  const Evaluation found = Ask(options, database, *truth, session.MakeContext());
  if (session.json()) {
    Session::Print(ToJson(options, found));
  } else {
    Session::Print(Readable(options, found));
  }
  return kExitFine;
}

void AddProtocol(CLI::App* command, Protocol& protocol) {
  const std::map<std::string, ApKind> kinds = {{"rectangular", ApKind::kRectangular},
                                               {"trapezoidal", ApKind::kTrapezoidal}};
  const std::map<std::string, ApDivisor> divisors = {{"existing", ApDivisor::kExisting},
                                                     {"reachable", ApDivisor::kReachable},
                                                     {"found", ApDivisor::kFound}};
  const std::map<std::string, TiePolicy> ties = {{"expected", TiePolicy::kExpected},
                                                 {"optimistic", TiePolicy::kOptimistic},
                                                 {"pessimistic", TiePolicy::kPessimistic},
                                                 {"input-order", TiePolicy::kInputOrder}};
  ChooseBy(kinds, command->add_option("--ap", protocol.ap.kind,
                                      "Kind of average precision (rectangular)"));
  command->add_option("--cutoff", protocol.ap.cutoff, "Only the first R results count; 0: all")
      ->capture_default_str();
  ChooseBy(divisors, command->add_option("--divisor", protocol.ap.divisor,
                                         "What AP is divided by (existing)"));
  ChooseBy(ties, command->add_option("--ties", protocol.ties, "The order inside a tie (expected)"));
  command->add_option("--at", protocol.at, "Also precision and recall among the first K results")
      ->delimiter(',');
}

}  // namespace

void AddEval(CLI::App& app, Session& session) {
  const auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Measure how well codes find right answers");
  command->add_option("--database-codes", options->database_codes, "Codes of the database")
      ->required();
  command->add_option("--queries-codes", options->queries_codes, "Codes of the queries");
  command->add_option("--asymmetric,--queries-real", options->queries_real,
                      "Or their real numbers, a row per query, as encode --real writes them");
  command->add_option("--bits", options->bits,
                      "Length of the codes, where it is not a multiple of 8");
  command->add_option("--truth", options->truth,
                      "Right answers: a row of database numbers per query (.ivecs, .npy)");
  command->add_option("--labels", options->labels, "Labels of the database");
  command->add_option("--query-labels", options->query_labels, "Labels of the queries");
  command->add_flag("--curve", options->curve, "Also precision and recall within every radius");
  AddProtocol(command, options->protocol);
  command->footer(
      "Example:\n  bitpool eval --database-codes base.npy --queries-codes q.npy --truth "
      "truth.ivecs\n\ndocs/metrics.md says what each number means.");
  command->callback([options, &session] {
    session.action = [options, &session] { return Evaluate(*options, session); };
  });
}

}  // namespace bitpool::app
