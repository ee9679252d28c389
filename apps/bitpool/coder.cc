#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/pictures/network_coder.h"
#include "bitpool/pictures/picture_files.h"
#include "least_rights.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct FromOnnxCommand {
  CodeNetwork network;
  std::filesystem::path rotate, output;
  IfExists if_exists = IfExists::kFail;
};

int FromOnnx(const FromOnnxCommand& command, const Session& session) {
  Env& env = Env::Posix();
  RequireWritable(env, command.output, command.if_exists);
  KeepLeastRights({command.output});
  const RunContext context = session.MakeContext();
  CodeNetwork network = command.network;
  network.files.how_to_get = "expected its file (.onnx)";
  if (!command.rotate.empty()) {
    for (const FoundPicture& picture : FindPictures(env, command.rotate, context)) {
      network.rotate_on.push_back(command.rotate / picture.path);
    }
    if (network.rotate_on.empty()) {
      throw Error(ErrorCode::kNotFound, command.rotate.string(), "no pictures here");
    }
  }
  const MadeCoder made = CoderFromNetwork(env, network, context);
  for (const FailedPicture& failed : made.failed) {
    Session::Complain(fmt::format("{}: {}; left out", failed.path.string(), failed.reason));
  }
  SaveCoder(env, command.output, made.coder, command.if_exists);
  const std::string& layer = made.coder.describer().settings().cnn.layer;
  if (session.json()) {
    Session::Print(nlohmann::json{{"coder", command.output.string()},
                                  {"bits", made.coder.bits()},
                                  {"layer", layer},
                                  {"outputs", made.coder.describer().dimension()},
                                  {"digest", made.coder.digest()},
                                  {"failed", made.failed.size()}});
  }
  session.Say(fmt::format("{}: codes of {} bits from {} outputs of layer {}",
                          command.output.string(), made.coder.bits(),
                          made.coder.describer().dimension(), layer));
  return made.failed.empty() ? kExitFine : kExitSomeFailed;
}

void AddFromOnnx(CLI::App* parent, Session& session) {
  const auto command = std::make_shared<FromOnnxCommand>();
  CodeNetwork& network = command->network;
  network.options.mean = {0, 0, 0};
  CLI::App* sub = parent->add_subcommand(
      "from-onnx", "Make a coder of a network whose outputs, or their signs, are the code");
  sub->add_option("NET", network.files.definition, "The network (.onnx)")->required();
  sub->add_option("-o,--out", command->output, "Where to write the coder (.bpc)")->required();
  sub->add_option("--size", network.options.size, "Pixels along each side of the pictures it takes")
      ->required();
  sub->add_option("--layer", network.options.layer, "Its output (default: the last)");
  sub->add_option("--mean", network.options.mean, "Blue, green and red, subtracted from the pixels")
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option("--scale", network.options.scale, "The pixels are then multiplied by this")
      ->capture_default_str();
  sub->add_flag("--rgb", network.options.rgb, "The network wants red first");
  sub->add_option("--threshold", network.threshold,
                  "An output of this and more is a 1; 0.5 for a network that gives 0 and 1")
      ->capture_default_str();
  CLI::Option* rotate = sub->add_option("--rotate", command->rotate,
                                        "A folder of pictures to learn a rotation of the outputs "
                                        "from (ITQ), by which their signs lose less");
  sub->add_option("--bits", network.bits, "Length of the codes then (default: the outputs)")
      ->needs(rotate)
      ->check(CLI::Range(1, kMaxBits));
  AddForce(sub, command->if_exists);
  sub->footer(
      "Example:\n  bitpool coder from-onnx hash.onnx --size 224 --mean 103.939,116.779,123.68 -o "
      "hash.bpc\n  bitpool index ~/Pictures --coder hash.bpc");
  sub->callback([command, &session] {
    session.action = [command, &session] { return FromOnnx(*command, session); };
  });
}

}  // namespace

void AddCoder(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("coder", "Coders of pictures (.bpc)");
  command->require_subcommand(1);
  command->fallthrough();
  command->footer("Example:\n  bitpool coder from-onnx hash.onnx --size 224 -o hash.bpc");
  AddFromOnnx(command, session);
}

}  // namespace bitpool::app
