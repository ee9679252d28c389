#include "bitpool/reproduction/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"
#include "bitpool/dataset/public_sets.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

template <class Spec>
const Spec& FindByName(const std::vector<Spec>& specs, const std::string& name, const char* kind) {
  std::string known;
  for (const Spec& spec : specs) {
    if (spec.name == name) return spec;
    known += (known.empty() ? "" : ", ") + spec.name;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} \"{}\": expected one of {}", kind, name, known));
}

bool IsHere(Env& env, const fs::path& path) { return !path.empty() && env.Exists(path); }

void AddWithRunsBefore(const ReproductionCatalogue& catalogue, const std::string& name,
                       std::vector<std::string>& names) {
  if (std::ranges::find(names, name) != names.end()) return;
  for (const std::string& before : catalogue.run(name).after) {
    AddWithRunsBefore(catalogue, before, names);
  }
  names.push_back(name);
}

}  // namespace

ReproductionSizes ReproductionSizes::Quick() {
  ReproductionSizes sizes;
  sizes.quick = true;
  sizes.vector_bits = sizes.picture_bits = sizes.class_bits = sizes.supervised_bits = {16, 32};
  sizes.vector_seeds = sizes.picture_seeds = sizes.class_seeds = sizes.supervised_seeds = 1;
  sizes.unseen_seeds = 1;
  sizes.vectors = 3000;
  sizes.vector_queries = 200;
  sizes.sift = {.training = 5000, .database = 20'000, .queries = 100};
  sizes.training_pictures = 250;
  sizes.searched_pictures = 150;
  sizes.embedding_sample = 20'000;
  sizes.picture_size = 224;
  sizes.views = 2;
  sizes.pictures_with_views = 300;
  sizes.view_bits = {16, 32};
  sizes.class_pictures = 1200;
  sizes.class_queries = 200;
  sizes.queries_per_class = 10;
  sizes.training_per_class = 50;
  sizes.tune = false;
  sizes.step_pictures = 12;
  return sizes;
}

const EntrySpec& ReproductionCatalogue::entry(const std::string& name) const {
  return FindByName(entries, name, "entry");
}

const RunSpec& ReproductionCatalogue::run(const std::string& name) const {
  return FindByName(runs, name, "run");
}

std::vector<std::string> ReproductionCatalogue::RunsOf(const EntrySpec& entry) const {
  std::vector<std::string> names;
  for (const EntryPart& part : entry.parts) {
    for (const EntryPart::Lines& lines : part.lines) AddWithRunsBefore(*this, lines.run, names);
  }
  return names;
}

bool ReproductionCatalogue::UsesNetwork(const EntryPart& part) const {
  return std::ranges::any_of(part.lines, [&](const EntryPart::Lines& lines) {
    return std::ranges::count(run(lines.run).needs, "network") > 0;
  });
}

std::vector<const DataNeed*> ReproductionCatalogue::Missing(const RunSpec& spec) const {
  std::vector<std::string> names;
  AddWithRunsBefore(*this, spec.name, names);
  std::vector<const DataNeed*> missing;
  for (const std::string& name : names) {
    for (const std::string& need : run(name).needs) {
      const DataNeed& found = FindByName(data, need, "data");
      if (!found.here && std::ranges::find(missing, &found) == missing.end()) {
        missing.push_back(&found);
      }
    }
  }
  return missing;
}

std::vector<DataNeed> ReproductionNeeds(Env& env, const ReproductionData& data) {
  std::vector<DataNeed> needs;
  for (const char* name : {"mnist", "cifar10"}) {
    needs.push_back({.name = name,
                     .what = std::string(FindPublicSet(name).description),
                     .here = IsComplete(env, FindPublicSet(name), data.public_sets),
                     .how = fmt::format("bitpool data get {}", name)});
  }
  needs.push_back({.name = "network",
                   .what = "a convolutional network (Caffe or ONNX)",
                   .here = IsHere(env, data.network.definition),
                   .how = data.network.how_to_get.empty() ? "name it with --network"
                                                          : data.network.how_to_get});
  const bool pictures = !data.pictures.empty() && env.IsFolder(data.pictures / "holidays") &&
                        env.IsFolder(data.pictures / "train");
  needs.push_back(
      {.name = "pictures",
       .what = "INRIA Holidays, and other photographs to learn from",
       .here = pictures,
       .how = "make a folder with holidays/ (http://lear.inrialpes.fr/~jegou/data.php) and train/ "
              "(any thousands of other photographs), and name it with --pictures"});
  needs.push_back(
      {.name = "sift",
       .what = "SIFT vectors: SIFT1M, or made of the pictures",
       .here = pictures || IsHere(env, data.sift1m),
       .how = "get SIFT1M from http://corpus-texmex.irisa.fr/ and name its folder with --sift, or "
              "name pictures with --pictures"});
  needs.push_back({.name = "oxford",
                   .what = "Oxford5k with its ground truth, and Paris6k to learn from",
                   .here = IsHere(env, data.oxford) && IsHere(env, data.oxford_truth) &&
                           IsHere(env, data.paris),
                   .how = "get them from https://www.robots.ox.ac.uk/~vgg/data/ and name the "
                          "folders with --oxford, --oxford-truth and --paris"});
  needs.push_back(
      {.name = "nus-wide",
       .what = "NUS-WIDE as local features with its labels",
       .here = IsHere(env, data.nus_wide) && IsHere(env, data.nus_wide_labels),
       .how = "get the pictures from https://lms.comp.nus.edu.sg/wp-content/uploads/2019/research/"
              "nuswide/NUS-WIDE.html, describe them with `bitpool extract --features cnn`, and "
              "name the file with --nus-wide and the labels, a line for each picture, with "
              "--nus-wide-labels"});
  return needs;
}

ReproductionCatalogue MakeReproductionCatalogue(Env& env, const ReproductionData& data,
                                                const ReproductionSizes& sizes,
                                                const RunContext& context) {
  return {.remark = sizes.quick
                        ? "A quick run: small parts of the data and one seed. It shows that "
                          "everything works; its figures decide nothing."
                        : "",
          .network = data.network_name,
          .data = ReproductionNeeds(env, data),
          .runs = ReproductionRuns(env, data, sizes, context),
          .entries = ReproductionEntries(data),
          .claims = ReproductionClaims()};
}

}  // namespace bitpool
