#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/pictures/extract_pictures.h"
#include "bitpool/pictures/picture_coder.h"
#include "experiment.h"
#include "least_rights.h"
#include "network_choice.h"
#include "subcommands.h"
#include "view_choice.h"

namespace bitpool::app {
namespace {

struct ExtractCommand {
  PictureExtraction job;
  ExtractorSettings extractor;
  NetworkChoice network;
  ViewChoice views;
  std::string coder, data_folder;
};

PictureDescriber DescriberFor(const ExtractCommand& command) {
  Env& env = Env::Posix();
  if (!command.coder.empty()) {
    command.network.RequireNothingAsked();
    return OpenCoder(env, command.coder).describer();
  }
  ExtractorSettings settings = command.extractor;
  if (command.network.named()) settings.kind = "cnn";
  if (settings.kind != "cnn") {
    command.network.RequireNothingAsked();
    return PictureDescriber::Open(env, settings);
  }
  const NamedNetwork network = command.network.Find(DataFolder(command.data_folder));
  settings.cnn = network.scenes.options;
  settings.network = network.files;
  return PictureDescriber::Open(env, settings);
}

int Extract(const ExtractCommand& command, const Session& session) {
  PictureExtraction job = command.job;
  job.limit = command.network.limit;
  job.views = command.views.Plan(session.MakeContext().seed());
  const PictureDescriber describer = DescriberFor(command);
  KeepLeastRights({job.output});
  const ExtractedPictures result =
      ExtractPictures(Env::Posix(), describer, job, session.MakeContext());
  for (const FailedPicture& failed : result.failed) {
    Session::Complain(fmt::format("{}: {}; left out", failed.path.string(), failed.reason));
  }
  if (session.json()) {
    Session::Print(nlohmann::json{{"pictures", result.pictures},
                                  {"descriptors", result.descriptors},
                                  {"dimension", describer.dimension()},
                                  {"resumed", result.resumed},
                                  {"failed", result.failed.size()}});
  }
  session.Say(
      fmt::format("{}: {} pictures, {} descriptors of dimension {}{}", job.output.string(),
                  result.pictures, result.descriptors, describer.dimension(),
                  result.resumed > 0 ? fmt::format(" ({} from before)", result.resumed) : ""));
  return result.failed.empty() ? kExitFine : kExitSomeFailed;
}

}  // namespace

void AddExtract(CLI::App& app, Session& session) {
  const auto command = std::make_shared<ExtractCommand>();
  CLI::App* sub =
      app.add_subcommand("extract", "Describe the pictures of a folder by local features");
  sub->add_option("DIR", command->job.folder, "The pictures, and folders of more")->required();
  sub->add_option("-o,--out", command->job.output, "Where to write the features (.bpf)")
      ->required();
  CLI::Option* kind =
      sub->add_option("--features", command->extractor.kind,
                      "hesaff (RootSIFT on Hessian-affine regions), dense (on a grid) or cnn (the "
                      "maps of a network)")
          ->check(CLI::IsMember({"hesaff", "dense", "cnn"}))
          ->capture_default_str();
  CLI::Option* side = sub->add_option("--max-side", command->extractor.max_side,
                                      "Pictures are first scaled down to this many pixels")
                          ->capture_default_str();
  CLI::Option* coder =
      sub->add_option("--coder", command->coder, "As this coder does it, embedded (.bpc)")
          ->excludes(kind)
          ->excludes(side);
  command->network.AddTo(sub);
  coder->excludes("--network");
  command->network.AddSizeTo(sub);
  command->network.AddLimitTo(sub);
  sub->add_option("--dir", command->data_folder, "Where networks are that are known by name");
  command->views.AddTo(sub);
  sub->add_flag("--resume", command->job.resume, "Go on where an interrupted extraction stopped");
  AddForce(sub, command->job.if_exists);
  sub->footer(
      "Examples:\n  bitpool extract photos -o photos.bpf --features hesaff --max-side 480\n"
      "  bitpool extract photos -o photos.bpf --views 8 --view-kind scenes");
  sub->callback([command, &session] {
    session.action = [command, &session] { return Extract(*command, session); };
  });
}

}  // namespace bitpool::app
