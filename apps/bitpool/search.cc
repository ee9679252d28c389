#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "bitpool/index/code_files.h"
#include "bitpool/index/code_index.h"
#include "bitpool/index/index_file.h"
#include "bitpool/io/sample_formats.h"
#include "subcommands.h"
#include "table.h"

namespace bitpool::app {
namespace {

struct SearchOptions {
  std::string codes, index_file, queries, queries_real, out, kind = "auto", how = "auto";
  std::optional<int> bits;
  int64_t k = 0;
  std::optional<int> radius;
  IfExists if_exists = IfExists::kFail;
};

IndexKind Kind(const SearchOptions& options) {
  if (options.kind == "flat") return IndexKind::kFlat;
  return options.kind == "mih" ? IndexKind::kMultiIndex : IndexKind::kAuto;
}

CLI::Option* AddKind(CLI::App* command, SearchOptions& options) {
  return command
      ->add_option("--index", options.kind,
                   "How to search: auto counts which costs less, flat scans, mih looks up")
      ->check(CLI::IsMember({"auto", "flat", "mih"}))
      ->capture_default_str();
}

std::unique_ptr<CodeIndex> LoadIndex(const SearchOptions& options, const RunContext& context) {
  if (!options.index_file.empty()) {
    auto index = OpenIndex(Env::Posix(), options.index_file, false, context);
    if (options.bits && *options.bits != index->bits()) {
      throw Error(ErrorCode::kInvalidArgument, options.index_file,
                  fmt::format("has codes of {} bits, not {}", index->bits(), *options.bits));
    }
    return index;
  }
  return MakeIndex(LoadCodes(Env::Posix(), options.codes, options.bits), Kind(options), context);
}

// The answers to each query, all of the same number when there is a k.
std::vector<std::vector<Neighbour>> Answers(const SearchOptions& options, const CodeIndex& index,
                                            const BinaryCodes& queries, const RunContext& context) {
  if (options.radius) return index.RangeSearch(queries, *options.radius, context);
  const SearchResult result = index.Search(queries, options.k, context);
  std::vector<std::vector<Neighbour>> answers;
  for (Index query = 0; query < queries.size(); ++query) {
    answers.emplace_back(result.of(query).begin(), result.of(query).end());
  }
  return answers;
}

// OUT.ids.npy and OUT.distances.npy, a row per query, padded with −1.
void WriteArrays(const SearchOptions& options, const std::vector<std::vector<Neighbour>>& answers) {
  size_t width = 1;
  for (const auto& list : answers) width = std::max(width, list.size());
  const auto ids =
      CreateSamples(Env::Posix(), options.out + ".ids.npy", DType::kI8, {width}, options.if_exists);
  const auto distances = CreateSamples(Env::Posix(), options.out + ".distances.npy", DType::kI4,
                                       {width}, options.if_exists);
  std::vector<int64_t> id_row(width);
  std::vector<int32_t> distance_row(width);
  for (const auto& list : answers) {
    for (size_t i = 0; i < width; ++i) {
      const Neighbour neighbour = i < list.size() ? list[i] : Neighbour();
      id_row[i] = neighbour.id;
      distance_row[i] = neighbour.distance;
    }
    ids->Append<int64_t>(id_row);
    distances->Append<int32_t>(distance_row);
  }
  ids->Commit();
  distances->Commit();
}

void PrintJson(const std::vector<std::vector<Neighbour>>& answers) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& list : answers) {
    nlohmann::json row = nlohmann::json::array();
    for (const Neighbour& neighbour : list) {
      if (neighbour.id >= 0)
        row.push_back({{"id", neighbour.id}, {"distance", neighbour.distance}});
    }
    rows.push_back(std::move(row));
  }
  Session::Print(rows);
}

void PrintTable(const std::vector<std::vector<Neighbour>>& answers) {
  std::vector<std::vector<std::string>> rows = {{"query", "rank", "id", "distance"}};
  for (size_t query = 0; query < answers.size(); ++query) {
    for (size_t i = 0; i < answers[query].size() && answers[query][i].id >= 0; ++i) {
      rows.push_back({std::to_string(query), std::to_string(i + 1),
                      std::to_string(answers[query][i].id),
                      std::to_string(answers[query][i].distance)});
    }
  }
  Session::Print(FormatTable(rows));
}

RealSearchOptions How(const SearchOptions& options) {
  if (options.how == "exact") return {.how = RealSearch::kExact};
  return {.how = options.how == "two-stage" ? RealSearch::kTwoStage : RealSearch::kAuto};
}

// Weights, a column per query.
MatrixF LoadWeights(const std::string& path, int bits) {
  const SampleFile file = OpenSamples(Env::Posix(), path);
  const bool real =
      file.dtype() == DType::kF2 || file.dtype() == DType::kF4 || file.dtype() == DType::kF8;
  if (!real || file.sample_shape().size() != 1) {
    throw Error(ErrorCode::kInvalidArgument, path,
                "expected real weights, an array of floats with a row per query");
  }
  if (file.dimension() != static_cast<uint64_t>(bits)) {
    throw Error(
        ErrorCode::kInvalidArgument, path,
        fmt::format("rows of {} weights, but the codes have {} bits", file.dimension(), bits));
  }
  MatrixF weights(bits, static_cast<Index>(file.count()));
  file.Read<float>(0, file.count(), std::span(weights.data(), static_cast<size_t>(weights.size())));
  return weights;
}

// OUT.ids.npy, OUT.scores.npy and OUT.distances.npy, a row of k per query.
void WriteRealArrays(const SearchOptions& options, const RealSearchResult& result) {
  const auto write = [&]<class T>(const char* name, T ScoredNeighbour::*field) {
    std::vector<T> values;
    for (const ScoredNeighbour& neighbour : result.neighbours) values.push_back(neighbour.*field);
    auto writer = CreateSamples(Env::Posix(), options.out + name, DTypeOf<T>(),
                                {static_cast<uint64_t>(result.k)}, options.if_exists);
    writer->template Append<T>(std::span<const T>(values));
    return writer;
  };
  const auto ids = write(".ids.npy", &ScoredNeighbour::id);
  const auto scores = write(".scores.npy", &ScoredNeighbour::score);
  const auto distances = write(".distances.npy", &ScoredNeighbour::distance);
  ids->Commit();
  scores->Commit();
  distances->Commit();
}

void PrintRealJson(const RealSearchResult& result, Index queries) {
  nlohmann::json rows = nlohmann::json::array();
  for (Index query = 0; query < queries; ++query) {
    nlohmann::json row = nlohmann::json::array();
    for (const ScoredNeighbour& found : result.of(query)) {
      if (found.id < 0) break;
      row.push_back({{"id", found.id}, {"score", found.score}, {"distance", found.distance}});
    }
    rows.push_back(std::move(row));
  }
  Session::Print(rows);
}

void PrintRealTable(const RealSearchResult& result, Index queries) {
  std::vector<std::vector<std::string>> rows = {{"query", "rank", "id", "score", "distance"}};
  for (Index query = 0; query < queries; ++query) {
    size_t rank = 0;
    for (const ScoredNeighbour& found : result.of(query)) {
      if (found.id < 0) break;
      rows.push_back({std::to_string(query), std::to_string(++rank), std::to_string(found.id),
                      fmt::format("{:.6g}", found.score), std::to_string(found.distance)});
    }
  }
  Session::Print(FormatTable(rows));
}

int SearchReal(const SearchOptions& options, const Session& session, const CodeIndex& index,
               const RunContext& context) {
  const MatrixF weights = LoadWeights(options.queries_real, index.bits());
  const RealSearchResult result = NamingTheFile(options.queries_real, [&] {
    return index.SearchReal(weights, options.k, How(options), context);
  });
  if (!options.out.empty()) {
    WriteRealArrays(options, result);
    session.Say(fmt::format("{0}.ids.npy, {0}.scores.npy and {0}.distances.npy: {1} queries",
                            options.out, weights.cols()));
  } else if (session.json()) {
    PrintRealJson(result, weights.cols());
  } else {
    PrintRealTable(result, weights.cols());
  }
  return kExitFine;
}

int Search(const SearchOptions& options, const Session& session) {
  if (options.queries.empty() == options.queries_real.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "expected either --queries or --queries-real");
  }
  if (!options.queries_real.empty() && options.radius) {
    throw Error(ErrorCode::kInvalidArgument,
                "--queries-real finds the K best: expected -k K, not --radius");
  }
  if ((options.k > 0) == options.radius.has_value() || options.k < 0 ||
      options.radius.value_or(0) < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected either -k K with K from 1, or --radius R with R from 0");
  }
  if (options.codes.empty() == options.index_file.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "expected either --codes or --index-file");
  }
  const RunContext context = session.MakeContext();
  const std::unique_ptr<CodeIndex> index = LoadIndex(options, context);
  if (!options.queries_real.empty()) return SearchReal(options, session, *index, context);
  const BinaryCodes queries = LoadCodes(Env::Posix(), options.queries, index->bits());
  const auto answers = Answers(options, *index, queries, context);
  if (!options.out.empty()) {
    WriteArrays(options, answers);
    session.Say(
        fmt::format("{0}.ids.npy and {0}.distances.npy: {1} queries", options.out, answers.size()));
  } else if (session.json()) {
    PrintJson(answers);
  } else {
    PrintTable(answers);
  }
  return kExitFine;
}

int IndexCodes(const SearchOptions& options, const Session& session) {
  const auto index = MakeIndex(LoadCodes(Env::Posix(), options.codes, options.bits), Kind(options),
                               session.MakeContext());
  SaveIndex(Env::Posix(), options.out, index->Snapshot(), options.if_exists);
  if (session.json()) {
    Session::Print(
        nlohmann::json{{"file", options.out}, {"codes", index->size()}, {"bits", index->bits()}});
  } else {
    session.Say(fmt::format("{}: {} codes of {} bits", options.out, index->size(), index->bits()));
  }
  return kExitFine;
}

}  // namespace

void AddSearch(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SearchOptions>();
  CLI::App* command = app.add_subcommand("search", "Find the nearest codes of queries, exactly");
  command->add_option("--codes", options->codes,
                      "Codes to search: .npy of bytes with a row per code, .bpv or .hex");
  command->add_option("--index-file", options->index_file,
                      "Codes to search: an index made by index-codes");
  command->add_option("--queries", options->queries, "Query codes");
  command->add_option("--queries-real", options->queries_real,
                      "Or real queries, as encode --real writes them: codes are ranked "
                      "by the sum of the values, each with the sign of its bit");
  command
      ->add_option("--how", options->how,
                   "Real values, codes in tables: exact scans all, two-stage looks up those near "
                   "the signs, auto chooses by size")
      ->check(CLI::IsMember({"auto", "exact", "two-stage"}))
      ->capture_default_str();
  command->add_option("--bits", options->bits,
                      "Length of the codes, when it is not that of their bytes");
  command->add_option("-k", options->k, "Find the K nearest");
  command->add_option("--radius", options->radius, "Find all within this distance");
  command->add_option("-o,--out", options->out,
                      "Write OUT.ids.npy and OUT.distances.npy, padded with -1; with "
                      "--queries-real also OUT.scores.npy");
  AddKind(command, *options)->excludes("--index-file");  // which says itself how
  AddForce(command, options->if_exists);
  command->footer(
      "Ids are the numbers of the rows, from 0. Results are ordered by distance, then id.\n\n"
      "Example:\n  bitpool search --codes db.npy --queries q.npy -k 10 -o nearest\n"
      "  bitpool search --codes db.npy --queries-real h.npy -k 10 -o nearest");
  command->callback([options, &session] {
    session.action = [options, &session] { return Search(*options, session); };
  });
}

void AddIndexCodes(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SearchOptions>();
  CLI::App* command = app.add_subcommand("index-codes", "Make an index file that opens at once");
  command
      ->add_option("CODES", options->codes,
                   "Codes: .npy of bytes with a row per code, .bpv or .hex")
      ->required();
  command->add_option("-o,--out", options->out, "Index file to write (.bpi)")->required();
  command->add_option("--bits", options->bits,
                      "Length of the codes, when it is not that of their bytes");
  AddKind(command, *options);
  AddForce(command, options->if_exists);
  command->footer("Example:\n  bitpool index-codes db.npy -o db.bpi");
  command->callback([options, &session] {
    session.action = [options, &session] { return IndexCodes(*options, session); };
  });
}

}  // namespace bitpool::app
