#include <fmt/format.h>

#include "bitpool/dataset/vector_file.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/metrics/neighbours.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct TruthOptions {
  std::string database, queries, out;
  int64_t k = 50;
  IfExists if_exists = IfExists::kFail;
};

// As FindNeighbours; what it says of the vectors names their file too.
Neighbours FindInFiles(const TruthOptions& options, const VectorFile& database,
                       const VectorFile& queries, const RunContext& context) {
  try {
    return FindNeighbours(database, queries, options.k, context);
  } catch (const Error& error) {
    const std::string about = error.context().empty() ? "" : error.context().front();
    if (about == "queries") throw error.In(options.queries);
    if (about == "database") throw error.In(options.database);
    throw;
  }
}

int FindTruth(const TruthOptions& options, const Session& session) {
  Env& env = Env::Posix();
  const auto width = static_cast<uint64_t>(std::max<int64_t>(options.k, 1));
  // Checked before the work, which would be lost if the output could not be written.
  const auto writer = CreateSamples(env, options.out, DType::kI4, {width}, options.if_exists);
  const VectorFile database(OpenSamples(env, options.database));
  const VectorFile queries(OpenSamples(env, options.queries));
  const Neighbours found = FindInFiles(options, database, queries, session.MakeContext());
  writer->Append<int32_t>(found.ids);
  writer->Commit();
  session.Say(fmt::format("{}: {} neighbours of each of {} queries", options.out, options.k,
                          queries.size()));
  return kExitFine;
}

}  // namespace

void AddTruth(CLI::App& app, Session& session) {
  const auto options = std::make_shared<TruthOptions>();
  CLI::App* command = app.add_subcommand("truth", "Find the exact Euclidean neighbours of queries");
  command->add_option("--database", options->database, "Vectors to search")->required();
  command->add_option("--queries", options->queries, "Vectors to search for")->required();
  command->add_option("-k", options->k, "Neighbours per query")->capture_default_str();
  command->add_option("-o,--out", options->out, "Where to write them: .ivecs, .npy or .bpv")
      ->required();
  AddForce(command, options->if_exists);
  command->footer(
      "Example:\n  bitpool truth --database base.fvecs --queries q.fvecs -k 50 -o truth.ivecs");
  command->callback([options, &session] {
    session.action = [options, &session] { return FindTruth(*options, session); };
  });
}

}  // namespace bitpool::app
