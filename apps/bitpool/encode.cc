#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/vector_file.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/index/code_files.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/training/model_file.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct EncodeOptions {
  std::string model, vectors, features, out;
  bool real = false;
  IfExists if_exists = IfExists::kFail;
};

// Writes h of every column as a row of single precision, some thousand at a time. Columns are
// projected in the groups of EncodeAll, so that signs are those of the codes.
void WriteReal(const EncodeOptions& options, const HashEncoder& encoder, const ColumnSource& source,
               const RunContext& context) {
  constexpr Index kGroup = 512;
  constexpr Index kAtOnce = 32 * kGroup;
  const auto bits = static_cast<size_t>(encoder.bits());
  const auto writer =
      CreateSamples(Env::Posix(), options.out, DType::kF4, {bits}, options.if_exists);
  Progress progress =
      context.StartProgress("encoding", "vectors", static_cast<uint64_t>(source.size()));
  MatrixF buffer;
  for (Index first = 0; first < source.size(); first += kAtOnce) {
    const Index count = std::min(kAtOnce, source.size() - first);
    const ColumnsView block = source.Read(first, count, buffer);
    RequireFinite(block, first);
    MatrixF values(encoder.bits(), count);
    context.ParallelFor(static_cast<size_t>(count), kGroup, [&](size_t begin, size_t end) {
      const auto from = static_cast<Index>(begin), columns = static_cast<Index>(end - begin);
      values.middleCols(from, columns) = encoder.Project(block.middleCols(from, columns));
    });
    writer->Append<float>({values.data(), static_cast<size_t>(values.size())});
    progress.Advance(static_cast<uint64_t>(count));
  }
  writer->Commit();
}

void SayReal(const EncodeOptions& options, const HashEncoder& encoder, Index count,
             const Session& session) {
  session.Say(fmt::format("{}: {} rows of {} numbers", options.out, count, encoder.bits()));
}

int EncodeVectors(const EncodeOptions& options, const HashModel& model, const Session& session) {
  const VectorFile vectors(OpenSamples(Env::Posix(), options.vectors));
  if (options.real) {
    NamingTheFile(options.vectors,
                  [&] { WriteReal(options, *model.encoder, vectors, session.MakeContext()); });
    SayReal(options, *model.encoder, vectors.size(), session);
    return kExitFine;
  }
  const BinaryCodes codes = NamingTheFile(
      options.vectors, [&] { return EncodeAll(*model.encoder, vectors, session.MakeContext()); });
  SaveCodes(Env::Posix(), options.out, codes, options.if_exists);
  session.Say(fmt::format("{}: {} codes of {} bits", options.out, codes.size(), codes.bits()));
  return kExitFine;
}

int EncodeFeatures(const EncodeOptions& options, const HashModel& model, const Session& session) {
  const FeatureFile features = FeatureFile::Open(Env::Posix(), options.features);
  const EncodedImages encoded = NamingTheFile(
      options.features, [&] { return EncodeImages(model, features, session.MakeContext()); });
  SaveCodes(Env::Posix(), options.out, encoded.codes, options.if_exists);
  session.Say(fmt::format("{}: {} codes of {} bits", options.out, encoded.codes.size(),
                          encoded.codes.bits()));
  return ReportFailures(features, encoded.failed, "code of zeros");
}

// Images that failed have zeros, which tell nothing of any bit.
int EncodeFeaturesReal(const EncodeOptions& options, const HashModel& model,
                       const Session& session) {
  const FeatureFile features = FeatureFile::Open(Env::Posix(), options.features);
  const RunContext context = session.MakeContext();
  const PooledImages pooled = NamingTheFile(options.features, [&] {
    return PoolImages(PoolingOf(model), model.pooling->normalise, features, context);
  });
  MatrixF values = model.encoder->Project(pooled.vectors);
  for (const FailedImage& failed : pooled.failed) values.col(failed.image).setZero();
  const auto writer = CreateSamples(Env::Posix(), options.out, DType::kF4,
                                    {static_cast<uint64_t>(values.rows())}, options.if_exists);
  writer->Append<float>({values.data(), static_cast<size_t>(values.size())});
  writer->Commit();
  SayReal(options, *model.encoder, values.cols(), session);
  return ReportFailures(features, pooled.failed, "row of zeros");
}

int Encode(const EncodeOptions& options, const Session& session) {
  RequireWritable(Env::Posix(), options.out, options.if_exists);
  if (options.vectors.empty() == options.features.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "expected either --vectors or --features");
  }
  const HashModel model = OpenModel(Env::Posix(), options.model).model;
  if (options.features.empty()) return EncodeVectors(options, model, session);
  return options.real ? EncodeFeaturesReal(options, model, session)
                      : EncodeFeatures(options, model, session);
}

}  // namespace

void AddEncode(CLI::App& app, Session& session) {
  const auto options = std::make_shared<EncodeOptions>();
  CLI::App* command =
      app.add_subcommand("encode", "Turn vectors or local features into binary codes");
  command->add_option("--model", options->model, "A model that train has made (.bpm)")->required();
  command->add_option("--vectors", options->vectors, "The vectors, a file of any known format");
  command->add_option("--features", options->features,
                      "Images as local features (.bpf), for a model that was trained on such");
  command->add_option("-o,--out", options->out, "Where to write the codes: .npy, .bpv or .hex")
      ->required();
  command->add_flag("--real", options->real,
                    "Write the real values whose signs are the codes, for search --queries-real: "
                    ".npy, .bpv or .fvecs");
  AddForce(command, options->if_exists);
  command->footer("Example:\n  bitpool encode --model rba.bpm --vectors base.fvecs -o base.npy");
  command->callback([options, &session] {
    session.action = [options, &session] { return Encode(*options, session); };
  });
}

}  // namespace bitpool::app
