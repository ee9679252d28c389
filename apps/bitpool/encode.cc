#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/vector_file.h"
#include "bitpool/index/code_files.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/pipeline/model_file.h"
#include "session.h"

namespace bitpool::app {
namespace {

struct EncodeOptions {
  std::string model, vectors, out;
  IfExists if_exists = IfExists::kFail;
};

int Encode(const EncodeOptions& options, const Session& session) {
  Env& env = Env::Posix();
  RequireWritable(env, options.out, options.if_exists);
  const HashModel model = OpenModel(env, options.model).model;
  const VectorFile vectors(OpenSamples(env, options.vectors));
  const BinaryCodes codes = NamingTheFile(
      options.vectors, [&] { return EncodeAll(*model.encoder, vectors, session.MakeContext()); });
  SaveCodes(env, options.out, codes, options.if_exists);
  session.Say(fmt::format("{}: {} codes of {} bits", options.out, codes.size(), codes.bits()));
  return kExitFine;
}

}  // namespace

void AddEncode(CLI::App& app, Session& session) {
  const auto options = std::make_shared<EncodeOptions>();
  CLI::App* command = app.add_subcommand("encode", "Turn vectors into binary codes");
  command->add_option("--model", options->model, "A model that train has made (.bpm)")->required();
  command->add_option("--vectors", options->vectors, "The vectors, a file of any known format")
      ->required();
  command->add_option("-o,--out", options->out, "Where to write the codes: .npy, .bpv or .hex")
      ->required();
  AddForce(command, options->if_exists);
  command->footer("Example:\n  bitpool encode --model rba.bpm --vectors base.fvecs -o base.npy");
  command->callback([options, &session] {
    session.action = [options, &session] { return Encode(*options, session); };
  });
}

}  // namespace bitpool::app
