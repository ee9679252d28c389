#include <fmt/format.h>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/vector_file.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/training/encoded_file.h"
#include "bitpool/training/model_file.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct EncodeOptions {
  std::string model, vectors, features, out;
  bool real = false;
  IfExists if_exists = IfExists::kFail;
};

void Finish(const EncodeOptions& options, EncodedFileWriter& writer, int bits,
            const Session& session) {
  writer.Commit();
  session.Say(options.real
                  ? fmt::format("{}: {} rows of {} numbers", options.out, writer.size(), bits)
                  : fmt::format("{}: {} codes of {} bits", options.out, writer.size(), bits));
}

int EncodeVectors(const EncodeOptions& options, const HashModel& model, EncodedFileWriter& writer,
                  const Session& session) {
  const VectorFile vectors(OpenSamples(Env::Posix(), options.vectors));
  NamingTheFile(options.vectors, [&] {
    EncodeBatch(*model.encoder, vectors, session.MakeContext(),
                [&](Index, const EncodedVectors& encoded) { writer.Append(encoded); });
  });
  Finish(options, writer, model.bits(), session);
  return kExitFine;
}

int EncodeFeatures(const EncodeOptions& options, const HashModel& model, EncodedFileWriter& writer,
                   const Session& session) {
  const FeatureFile features = FeatureFile::Open(Env::Posix(), options.features);
  std::vector<FailedImage> failed;
  NamingTheFile(options.features, [&] {
    EncodeImages(model, features, session.MakeContext(), [&](Index, const EncodedImages& encoded) {
      writer.Append(encoded);
      failed.insert(failed.end(), encoded.failed.begin(), encoded.failed.end());
    });
  });
  Finish(options, writer, model.bits(), session);
  return ReportFailures(features, failed, options.real ? "row of zeros" : "code of zeros");
}

int Encode(const EncodeOptions& options, const Session& session) {
  RequireWritable(Env::Posix(), options.out, options.if_exists);
  if (options.vectors.empty() == options.features.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "expected either --vectors or --features");
  }
  const HashModel model = OpenModel(Env::Posix(), options.model).model;
  if (options.features.empty()) {
    NamingTheFile(options.model, [&] { RequireTakesVectors(model); });
  }
  EncodedFileWriter writer(Env::Posix(), options.out, model.bits(),
                           options.real ? EncodedContent::kProjections : EncodedContent::kCodes,
                           options.if_exists);
  return options.features.empty() ? EncodeVectors(options, model, writer, session)
                                  : EncodeFeatures(options, model, writer, session);
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
