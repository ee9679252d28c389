#include "bitpool/reproduction/catalogue.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNetwork =
    "The network is another one than the paper's VGG-16, whose weights are not free to be "
    "distributed with this program.";
constexpr const char* kPictures =
    "The network and the pictures are not the paper's: the training pictures are those at hand, "
    "and the Holidays set may be a part of the whole. Holidays+Flickr100k is not run.";

EntryPart Accuracy(const std::string& heading, const std::string& run,
                   const std::string& emphasised) {
  return {.heading = heading, .lines = {{.run = run}}, .emphasised = emphasised};
}

// The same with the lines of another run after them.
EntryPart AccuracyOfBoth(const std::string& heading, const std::string& run,
                         const std::string& other, const std::string& emphasised) {
  EntryPart part = Accuracy(heading, run, emphasised);
  part.lines.push_back({.run = other});
  return part;
}

// One measure of several runs of section III, a part for each.
std::vector<EntryPart> VectorParts(EntryKind kind, const std::string& prefix,
                                   const std::vector<std::string>& sets) {
  std::vector<EntryPart> parts;
  for (const std::string& set : sets) {
    EntryPart part = Accuracy(set == "cifar10" ? "CIFAR-10, GIST"
                              : set == "mnist" ? "MNIST, pixels"
                                               : "SIFT vectors",
                              prefix + set, "rba");
    part.kind = kind;
    parts.push_back(part);
  }
  return parts;
}

// The parts of section V: Holidays and Oxford5k.
std::vector<EntryPart> PictureParts(const ReproductionData& data, const std::string& features) {
  std::vector<EntryPart> parts;
  for (const char* set : {"holidays", "oxford5k"}) {
    const bool holidays = set == std::string_view("holidays");
    EntryPart part =
        Accuracy(holidays ? "Holidays" : "Oxford5k", std::string(set) + "-" + features, "sah");
    if (features == "fc") {
      part.lines.insert(part.lines.begin(),
                        {.run = std::string(set) + "-cnn", .method = "sah", .as = "sah"});
    }
    part.pictures = holidays ? data.pictures / "holidays" : data.oxford;
    parts.push_back(part);
  }
  return parts;
}

EntryPart SiftOrCnn(const std::string& heading, const std::string& set) {
  return {.heading = heading,
          .lines = {{.run = set + "-sift", .method = "sah", .as = "sah, SIFT"},
                    {.run = set + "-cnn", .method = "sah", .as = "sah, CNN"}},
          .emphasised = "sah, CNN",
          .paper_set = set};
}

EntrySpec SashEntry(const std::string& name, const std::string& paper, const std::string& set,
                    const std::string& heading, bool unseen) {
  return {
      .name = name,
      .paper = paper,
      .title = "SASH against supervised methods on " + heading +
               (unseen ? ", classes that were never seen" : ", the classes that were learned"),
      .differs = std::string(kNetwork) +
                 (set == "mnist" && !unseen
                      ? " The paper trains SASH, SDH and CCA-ITQ on all of MNIST but the "
                        "queries; here all methods learn from as many images of each class as "
                        "on the other sets."
                      : ""),
      .parts = {Accuracy(heading, "sash-" + set + (unseen ? "-unseen" : "-traditional"), "sash")}};
}

EntryPart DeepUnseen(const std::string& heading, const std::string& set) {
  std::vector<EntryPart::Lines> lines = {
      {.run = "sash-" + set + "-unseen", .method = "sash", .as = "sash"}};
  if (set != "nus-wide") lines.push_back({.run = "deep-" + set + "-unseen"});
  return {.heading = heading,
          .lines = lines,
          .emphasised = "sash",
          .paper_set = set,
          .bits = {24, 32, 48}};
}

void AddSectionThree(std::vector<EntrySpec>& entries) {
  entries.push_back({.name = "rba-time",
                     .paper = "fig:time-rba-ba",
                     .title = "Training time of RBA and BA",
                     .differs = "Both are our own programs in C++, with all threads; the paper "
                                "compares Matlab with Matlab and C on one core. SIFT vectors are "
                                "made of the pictures at hand unless SIFT1M is given.",
                     .parts = VectorParts(EntryKind::kTime, "unsupervised-", {"cifar10", "sift"})});
  entries.push_back(
      {.name = "rba-accuracy",
       .paper = "fig:rba-soa",
       .title = "RBA against unsupervised methods",
       .differs = "SIFT vectors are made of the pictures at hand unless SIFT1M is given, with one "
                  "in a hundred as right answers, as in SIFT1M. Queries are drawn from the test "
                  "part. Our GIST is not the authors' program.",
       .parts = VectorParts(EntryKind::kAccuracy, "unsupervised-", {"cifar10", "mnist", "sift"})});
  entries.push_back(
      {.name = "rba-constants",
       .paper = "fig:hyperparam",
       .title = "RBA over its constants, 32 bits",
       .differs = "The surface is measured on training vectors held out, not on the test queries.",
       .not_comparable = "λ and β are in the scale of one unit of variance per bit and per sample "
                         "(docs/rba.md), which the paper does not name, so its best ranges are "
                         "those of other numbers.",
       .parts = VectorParts(EntryKind::kSurface, "constants-", {"cifar10", "sift"})});
}

void AddSectionFive(const ReproductionData& data, std::vector<EntrySpec>& entries) {
  EntrySpec reconstruction{
      .name = "reconstruction",
      .paper = "fig:res_oxford5k",
      .title = "Reconstruction error of codes",
      .differs = std::string("The paper measures on Oxford5k; where that is not here, Holidays "
                             "alone is shown. The error is a share of the variance of the vectors, "
                             "because those of SAH have a scale of their own. ") +
                 kPictures,
      .parts = PictureParts(data, "sift")};
  for (EntryPart& part : reconstruction.parts) {
    part.kind = EntryKind::kError;
    part.pictures.clear();
  }
  entries.push_back(reconstruction);
  entries.push_back({.name = "sah-sift",
                     .paper = "fig:lph-soa",
                     .title = "SAH against unsupervised methods, SIFT features",
                     .differs = kPictures,
                     .parts = PictureParts(data, "sift")});
  entries.push_back({.name = "sah-cnn",
                     .paper = "fig:lph-soa_CNN",
                     .title = "SAH against unsupervised methods, convolutional features",
                     .differs = kPictures,
                     .parts = PictureParts(data, "cnn")});
  entries.push_back(
      {.name = "sah-fc",
       .paper = "fig:lph-soa_CNN_FC7",
       .title = "SAH on convolutional features, the others on global vectors of the network",
       .differs = std::string("The default network, SqueezeNet, has no fully-connected layer; the "
                              "1,000 outputs of its last pooling stand in for it. ") +
                  kPictures,
       .parts = PictureParts(data, "fc")});
  entries.push_back(
      {.name = "sift-or-cnn",
       .paper = "tab:SAH_SIFT_conv",
       .title = "SAH with SIFT and with convolutional features",
       .differs = kPictures,
       .parts = {SiftOrCnn("Holidays", "holidays"), SiftOrCnn("Oxford5k", "oxford5k")}});
  entries.push_back(
      {.name = "cifar-top1000",
       .paper = "tab:deepbit",
       .title = "SAH on CIFAR-10, the first 1,000 results",
       .differs = std::string("The methods beside SAH hash the aggregated convolutional features, "
                              "where the paper gave them those of a fully-connected layer. "
                              "DeepBit and GraphBit are trained here as layers on the same "
                              "vectors, DeepBit without its second stage (docs/deep.md); the "
                              "improved DeepBit is the paper's figure only. ") +
                  kNetwork,
       .parts = {AccuracyOfBoth("CIFAR-10", "cifar-top1000", "cifar-top1000-deep", "sah")}});
  entries.push_back({.name = "cifar-all",
                     .paper = "tab:SADH",
                     .title = "SAH on CIFAR-10, all results",
                     .differs = std::string("SADH is trained here as a layer on the same "
                                            "vectors as the others (docs/deep.md). ") +
                                kNetwork,
                     .parts = {AccuracyOfBoth("CIFAR-10", "cifar-all", "cifar-all-deep", "sah")}});
  EntryPart steps = Accuracy("One thread", "step-time", "sah");
  steps.kind = EntryKind::kSteps;
  entries.push_back({.name = "step-time",
                     .paper = "tab:computation_time",
                     .title = "Time from a picture to its code",
                     .differs = "The paper extracts features on a TITAN X graphics card, we on one "
                                "core of the machine named below, with another network.",
                     .parts = {steps}});
}

void AddSectionSeven(std::vector<EntrySpec>& entries) {
  entries.push_back(SashEntry("sash-cifar", "tab:SASH_cifar", "cifar10", "CIFAR-10", false));
  entries.push_back(SashEntry("sash-mnist", "tab:SASH_mnist", "mnist", "MNIST", false));
  entries.push_back(SashEntry("sash-nus-wide", "tab:SASH_NUS-WIDE", "nus-wide", "NUS-WIDE", false));
  entries.push_back(
      SashEntry("sash-cifar-unseen", "tab:SASH_cifar_unseen", "cifar10", "CIFAR-10", true));
  entries.push_back(
      SashEntry("sash-mnist-unseen", "tab:SASH_mnist_unseen", "mnist", "MNIST", true));
  entries.push_back(
      SashEntry("sash-nus-wide-unseen", "tab:SASH_NUS-WIDE_unseen", "nus-wide", "NUS-WIDE", true));
  entries.push_back({.name = "sash-deep-unseen",
                     .paper = "tab:SASH_deep_unseen",
                     .title = "SASH beside deep methods, classes that were never seen",
                     .differs =
                         "SASH learns from features of a network as it is, the deep methods "
                         "train the whole of ResNet-50 on a GPU (research/deep), on the same "
                         "classes for each seed. The paper gave all of them another network.",
                     .parts = {DeepUnseen("CIFAR-10", "cifar10"), DeepUnseen("MNIST", "mnist"),
                               DeepUnseen("NUS-WIDE", "nus-wide")}});
}

// What the paper does not have.
void AddOurs(std::vector<EntrySpec>& entries) {
  constexpr const char* kWhy =
      "it is not in the paper: these methods learn from views of pictures (docs/views.md).";
  entries.push_back({.name = "views-holidays",
                     .paper = kOurs,
                     .title = "Codes that learn from views, on pictures of scenes",
                     .differs = "Views of the training pictures, of kind scenes.",
                     .not_comparable = kWhy,
                     .parts = {Accuracy("SIFT", "holidays-sift-views", "sav"),
                               Accuracy("Network", "holidays-cnn-views", "sav")}});
  entries.push_back(
      {.name = "views-cifar",
       .paper = kOurs,
       .title = "Codes that learn from views, on CIFAR-10 without labels",
       .differs = "Views of some of the training pictures, of kind classes.",
       .not_comparable = kWhy,
       .parts = {AccuracyOfBoth("CIFAR-10", "cifar-views", "cifar-views-deep", "sav")}});
}

}  // namespace

std::vector<EntrySpec> ReproductionEntries(const ReproductionData& data) {
  std::vector<EntrySpec> entries;
  AddSectionThree(entries);
  AddSectionFive(data, entries);
  AddSectionSeven(entries);
  AddOurs(entries);
  return entries;
}

}  // namespace bitpool
