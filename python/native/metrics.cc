// How well codes answer.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/metrics/neighbours.h"
#include "bitpool/metrics/protocol.h"
#include "jobs.h"

namespace bitpool::python {
namespace {

// The answers of all queries, one after the other, and where those of each query end.
using Lists = std::pair<py::array, py::array>;

std::vector<std::vector<Index>> ListsOf(const Lists& lists, const std::string& argument) {
  const std::vector<int64_t> items = IdsOf(lists.first, argument),
                             ends = IdsOf(lists.second, argument);
  std::vector<std::vector<Index>> all;
  int64_t begin = 0;
  for (const int64_t end : ends) {
    all.emplace_back(items.begin() + begin, items.begin() + end);
    begin = end;
  }
  return all;
}

struct Truth {
  std::shared_ptr<const GroundTruth> answers;
};

Truth ListAnswers(Index database_size, const Lists& relevant, const Lists& ignored) {
  auto truth = std::make_shared<ListedTruth>(database_size);
  std::vector<std::vector<Index>> wanted = ListsOf(relevant, "relevant"),
                                  passed_over = ListsOf(ignored, "ignored");
  passed_over.resize(wanted.size());
  for (size_t query = 0; query < wanted.size(); ++query) {
    InContext(fmt::format("relevant[{}]", query),
              [&] { truth->AddQuery(std::move(wanted[query]), std::move(passed_over[query])); });
  }
  return {std::move(truth)};
}

Labels LabelsOf(const Lists& classes, const std::string& argument) {
  std::vector<std::vector<int32_t>> items;
  for (const std::vector<Index>& item : ListsOf(classes, argument)) {
    items.emplace_back(item.begin(), item.end());
  }
  return InContext(argument, [&] { return Labels::Multi(items); });
}

Truth ShareClasses(const Lists& queries, const Lists& database) {
  return {std::make_shared<LabelTruth>(LabelsOf(queries, "labels"), LabelsOf(database, "labels"))};
}

template <class Kind>
Kind Named(const std::string& field, const std::string& name,
           const std::vector<std::pair<const char*, Kind>>& known) {
  std::string names;
  for (const auto& [known_name, kind] : known) {
    if (name == known_name) return kind;
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", known_name);
  }
  throw Error(ErrorCode::kInvalidArgument, field,
              fmt::format("\"{}\": expected one of {}", name, names));
}

Protocol MakeProtocol(const std::string& ap, const std::string& divisor, Index cutoff,
                      const std::string& ties, std::vector<Index> at) {
  Protocol protocol;
  protocol.ap.kind = Named<ApKind>(
      "ap", ap, {{"rectangular", ApKind::kRectangular}, {"trapezoidal", ApKind::kTrapezoidal}});
  protocol.ap.divisor = Named<ApDivisor>("divisor", divisor,
                                         {{"existing", ApDivisor::kExisting},
                                          {"reachable", ApDivisor::kReachable},
                                          {"found", ApDivisor::kFound}});
  protocol.ap.cutoff = cutoff;
  protocol.ties = Named<TiePolicy>("ties", ties,
                                   {{"expected", TiePolicy::kExpected},
                                    {"optimistic", TiePolicy::kOptimistic},
                                    {"pessimistic", TiePolicy::kPessimistic},
                                    {"input order", TiePolicy::kInputOrder}});
  protocol.at = std::move(at);
  protocol.Validate();
  return protocol;
}

py::dict DictOf(Evaluation evaluation) {
  py::list curve;
  for (const RadiusPoint& point : evaluation.curve) {
    curve.append(py::make_tuple(point.precision, point.recall, point.answered));
  }
  const auto queries = static_cast<py::ssize_t>(evaluation.ap.size());
  py::dict result;
  result["mean_ap"] = evaluation.mean_ap;
  result["ap"] = ArrayOf(std::move(evaluation.ap), {queries});
  result["queries_without_relevant"] = evaluation.queries_without_relevant;
  result["precision_at"] = evaluation.precision_at;
  result["recall_at"] = evaluation.recall_at;
  result["curve"] = curve;
  return result;
}

py::dict EvaluateByDistance(const py::array& database, const py::array& queries, int bits,
                            const Truth& truth, const Protocol& protocol, const RunRequest& run) {
  const BinaryCodes stored = CodesOf(database, bits, "database");
  const BinaryCodes asked = CodesOf(queries, bits, "queries");
  return DictOf(RunToTheEnd(run, [&](const RunContext& context) {
    return EvaluateCodes(stored, asked, *truth.answers, protocol, context);
  }));
}

py::dict EvaluateByScore(const py::array& database, const py::array& queries, int bits,
                         const Truth& truth, const Protocol& protocol, const RunRequest& run) {
  const BinaryCodes stored = CodesOf(database, bits, "database");
  const ArrayColumns weights(queries, "queries");
  return DictOf(Explained(weights, [&](const ArrayColumns& columns) {
    return RunToTheEnd(run, [&](const RunContext& context) {
      MatrixF buffer;
      return EvaluateAsymmetric(stored, columns.Read(0, columns.size(), buffer), *truth.answers,
                                protocol, context);
    });
  }));
}

py::tuple EuclideanNeighbours(const py::array& database, const py::array& queries, Index k,
                              const RunRequest& run) {
  const ArrayColumns stored(database, "database"), asked(queries, "queries");
  Neighbours found = Explained(stored, [&](const ArrayColumns&) {
    return RunToTheEnd(
        run, [&](const RunContext& context) { return FindNeighbours(stored, asked, k, context); });
  });
  return py::make_tuple(ArrayOf(std::move(found.squared_distances), {asked.size(), found.k}),
                        ArrayOf(std::move(found.ids), {asked.size(), found.k}));
}

}  // namespace

void BindMetrics(py::module_& module) {
  py::class_<Truth>(module, "Truth", "Which items are right answers to each query.")
      .def_static("listed", &ListAnswers, py::arg("database_size"), py::arg("relevant"),
                  py::arg("ignored"))
      .def_static("shared_classes", &ShareClasses, py::arg("queries"), py::arg("database"));
  py::class_<Protocol>(module, "Protocol", "What must be agreed on before results compare.")
      .def(py::init(&MakeProtocol), py::arg("ap"), py::arg("divisor"), py::arg("cutoff"),
           py::arg("ties"), py::arg("at"))
      .def("describe", &Protocol::Describe);
  module.def("evaluate_by_distance", &EvaluateByDistance, py::arg("database"), py::arg("queries"),
             py::arg("n_bits"), py::arg("truth"), py::arg("protocol"), py::arg("run"));
  module.def("evaluate_by_score", &EvaluateByScore, py::arg("database"), py::arg("queries"),
             py::arg("n_bits"), py::arg("truth"), py::arg("protocol"), py::arg("run"));
  module.def("euclidean_neighbours", &EuclideanNeighbours, py::arg("database"), py::arg("queries"),
             py::arg("k"), py::arg("run"));
}

}  // namespace bitpool::python
