#include <fmt/format.h>

#include <memory>

#include "bitpool/pictures/network_file.h"
#include "bitpool/reproduction/reproduction.h"
#include "experiment.h"
#include "network_choice.h"
#include "session.h"
#include "table.h"

namespace bitpool::app {
namespace {

struct ReproduceCommand {
  NetworkChoice network;
  std::vector<std::string> names;
  std::string out = "reproduction", global_layer, public_sets, pictures, work, oxford, oxford_truth,
              paris, sift, nus_wide, nus_wide_labels, beside;
  uint64_t memory_mib = 0;
  bool quick = false, list = false;
};

ReproductionData DataOf(const ReproduceCommand& command) {
  ReproductionData data;
  data.public_sets = DataFolder(command.public_sets);
  const NamedNetwork network = command.network.Find(data.public_sets);
  data.network = network.files;
  data.network_name = network.name;
  data.scenes = network.scenes;
  data.classes = network.classes;
  data.global_layer = command.global_layer.empty() ? network.global_layer : command.global_layer;
  data.pictures = command.pictures;
  data.work =
      command.work.empty() ? data.public_sets / "retrieval" : std::filesystem::path(command.work);
  data.oxford = command.oxford;
  data.oxford_truth = command.oxford_truth;
  data.paris = command.paris;
  data.sift1m = command.sift;
  data.nus_wide = command.nus_wide;
  data.nus_wide_labels = command.nus_wide_labels;
  return data;
}

std::string NeedsText(const ListedEntry& entry) {
  std::string text;
  for (const DataNeed* need : entry.needs) {
    text += (text.empty() ? "" : ", ") + need->name + (need->here ? "" : " (not here)");
  }
  return text;
}

nlohmann::json ListToJson(const std::vector<ListedEntry>& entries) {
  nlohmann::json list = nlohmann::json::array();
  for (const ListedEntry& entry : entries) {
    nlohmann::json needs = nlohmann::json::array();
    for (const DataNeed* need : entry.needs) {
      needs.push_back(
          {{"name", need->name}, {"what", need->what}, {"here", need->here}, {"how", need->how}});
    }
    list.push_back({{"name", entry.name},
                    {"paper", entry.paper},
                    {"title", entry.title},
                    {"needs", needs},
                    {"runs", entry.runs},
                    {"runnable", entry.runnable},
                    {"complete", entry.complete},
                    {"minutes", entry.minutes}});
  }
  return list;
}

std::string ListAsText(const std::vector<ListedEntry>& entries,
                       const ReproductionCatalogue& catalogue) {
  std::vector<std::vector<std::string>> rows = {
      {"entry", "in the paper", "data", "runs done", "minutes left"}};
  for (const ListedEntry& entry : entries) {
    rows.push_back({entry.name, entry.paper, NeedsText(entry),
                    fmt::format("{}/{}", entry.complete, entry.runs),
                    entry.runnable == 0 ? "-" : fmt::format("{:.3g}", entry.minutes)});
  }
  std::string text = FormatTable(rows);
  for (const DataNeed& need : catalogue.data) {
    if (!need.here) text += fmt::format("\n{}: {}\n  {}\n", need.name, need.what, need.how);
  }
  return text;
}

std::string Readable(const Reproduction& reproduction) {
  std::vector<std::vector<std::string>> rows = {{"verdict", "the paper says"}};
  for (const JudgedClaim& claim : reproduction.claims) {
    rows.push_back({std::string(VerdictText(claim.verdict)), claim.text});
  }
  std::string text = FormatTable(rows);
  for (const auto& [name, outcome] : reproduction.runs) {
    if (!outcome.experiment) text += fmt::format("\n{}: not run: {}\n", name, outcome.problem);
  }
  return text;
}

ReproductionSizes SizesOf(const ReproduceCommand& command) {
  ReproductionSizes sizes = command.quick ? ReproductionSizes::Quick() : ReproductionSizes();
  if (command.memory_mib > 0) sizes.memory = command.memory_mib << 20;
  return sizes;
}

int RunReproduce(const ReproduceCommand& command, const Session& session) {
  Env& env = Env::Posix();
  const RunContext context = session.MakeContext();
  ReproductionCatalogue catalogue =
      MakeReproductionCatalogue(env, DataOf(command), SizesOf(command), context);
  if (!command.beside.empty()) catalogue.beside = ReadOtherNetwork(env, command.beside);
  if (command.list) {
    const std::vector<ListedEntry> entries = ListEntries(env, catalogue, command.out);
    if (session.json()) {
      Session::Print(ListToJson(entries));
    } else {
      Session::Print(ListAsText(entries, catalogue));
    }
    return kExitFine;
  }
  const double minutes = MinutesLeft(env, catalogue, command.names, command.out);
  session.Say(
      fmt::format("about {:.0f} minutes on two cores, features that are not kept yet not "
                  "counted; an interrupted run resumes when it is called again",
                  minutes));
  const Reproduction reproduction = RunReproduction(
      env, catalogue, command.names, command.out, context,
      [&](const std::string& line) { session.Say(line); },
      [&](const Reproduction& so_far) {
        WriteReproduction(env, catalogue, so_far, command.out, context);
      });
  WriteReproduction(env, catalogue, reproduction, command.out, context);
  if (session.json()) {
    Session::Print(ReproductionResults(catalogue, reproduction));
  } else {
    Session::Print(Readable(reproduction));
  }
  session.Say(fmt::format("{}/report.html: the report; {}/results.json: all figures", command.out,
                          command.out));
  return reproduction.failed() ? kExitSomeFailed : kExitFine;
}

}  // namespace

void AddReproduce(CLI::App& parent, Session& session) {
  const auto command = std::make_shared<ReproduceCommand>();
  CLI::App* app = parent.add_subcommand("reproduce", "Repeat the evaluation of the whole paper");
  app->add_option("names", command->names, "Tables and figures, as --list names them; none: all");
  app->add_flag("--quick", command->quick, "A small part of the data and one seed: five minutes");
  app->add_flag("--list", command->list, "What there is, what it needs, and how long it takes");
  app->add_option("-o,--out", command->out, "Folder for runs, results.json and report.html")
      ->capture_default_str();
  app->add_option("--data", command->public_sets, "Where `data get` has put the sets");
  app->add_option("--pictures", command->pictures,
                  "A folder with holidays/ (INRIA Holidays) and train/ (other photographs)");
  app->add_option("--work", command->work,
                  "Folder in which features of pictures are kept (default: retrieval in that of "
                  "the sets)");
  app->add_option("--memory", command->memory_mib,
                  "MiB for images; beyond, they go to a file (default: 6144)");
  command->network.AddTo(app);
  command->network.AddLocalPcaTo(app);
  app->add_option("--global-layer", command->global_layer,
                  "Its layer that gives one vector for a picture (default: the network's)");
  app->add_option("--beside", command->beside,
                  "Folder of a reproduction with another network, to be shown beside this one");
  app->add_option("--oxford", command->oxford, "Pictures of Oxford5k");
  app->add_option("--oxford-truth", command->oxford_truth, "Its ground-truth files");
  app->add_option("--paris", command->paris, "Pictures of Paris6k, to learn from for Oxford5k");
  app->add_option("--sift", command->sift, "SIFT1M: a folder with its .fvecs files");
  app->add_option("--nus-wide", command->nus_wide, "NUS-WIDE as local features (.bpf)");
  app->add_option("--nus-wide-labels", command->nus_wide_labels, "Its labels");
  app->footer(
      "Example:\n  bitpool reproduce --list\n  bitpool reproduce --quick rba-accuracy sash-cifar "
      "-o quick");
  app->callback([command, &session] {
    session.action = [command, &session] { return RunReproduce(*command, session); };
  });
}

}  // namespace bitpool::app
