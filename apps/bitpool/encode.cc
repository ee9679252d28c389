#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/vector_file.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/index/code_files.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/pipeline/model_file.h"
#include "session.h"

namespace bitpool::app {
namespace {

struct EncodeOptions {
  std::string model, vectors, features, out;
  IfExists if_exists = IfExists::kFail;
};

int EncodeVectors(const EncodeOptions& options, const HashModel& model, const Session& session) {
  const VectorFile vectors(OpenSamples(Env::Posix(), options.vectors));
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

int Encode(const EncodeOptions& options, const Session& session) {
  RequireWritable(Env::Posix(), options.out, options.if_exists);
  if (options.vectors.empty() == options.features.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "expected either --vectors or --features");
  }
  const HashModel model = OpenModel(Env::Posix(), options.model).model;
  return options.features.empty() ? EncodeVectors(options, model, session)
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
  AddForce(command, options->if_exists);
  command->footer("Example:\n  bitpool encode --model rba.bpm --vectors base.fvecs -o base.npy");
  command->callback([options, &session] {
    session.action = [options, &session] { return Encode(*options, session); };
  });
}

}  // namespace bitpool::app
