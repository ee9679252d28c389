#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench.h"
#include "pooling_bench.h"
#include "table.h"
#include "training_bench.h"

namespace bitpool::app {
namespace {

std::string ReadableTraining(const nlohmann::json& found) {
  std::vector<std::vector<std::string>> rows = {{"what", "ours", "peer", "ratio"}};
  const auto add = [&](const char* what, const char* ours, const char* peer, bool speeds) {
    const nlohmann::json& a = found[ours];
    const nlohmann::json& b = found[peer];
    const auto figure = [](const nlohmann::json& value) {
      return value.is_null() ? "not measured" : fmt::format("{:.4g}", value.get<double>());
    };
    std::string ratio;
    if (!a.is_null() && !b.is_null()) {
      const double times =
          speeds ? a.get<double>() / b.get<double>() : b.get<double>() / a.get<double>();
      ratio = fmt::format("{:.2f}", times);
    }
    rows.push_back({what, figure(a), figure(b), ratio});
  };
  add("RBA against BA, CIFAR-10 GIST size, s", "rba_s", "ba_s", false);
  add("RBA against its bare products, MNIST size, s", "rba_mnist_s", "rba_mnist_products_s", false);
  add("ITQ against Faiss, 128 dimensions, s", "itq_128_s", "faiss_itq_128_s", false);
  add("ITQ against Faiss, 512 dimensions, s", "itq_512_s", "faiss_itq_512_s", false);
  add("whitening against its bare products, 512 dimensions, s", "whitening_s",
      "whitening_products_s", false);
  add("encoding against the bare product, vectors/s", "encode_per_s", "product_per_s", true);
  return FormatTable(rows) + "ratio: how many times as fast ours is\n";
}

std::string ReadablePooling(const nlohmann::json& found) {
  const double one_pass = found["one_pass_ms"].get<double>();
  const auto row = [&](const char* what, const char* ours, const char* direct,
                       const char* iterations) -> std::vector<std::string> {
    const double mine = found[ours].get<double>(), theirs = found[direct].get<double>();
    return {what,
            fmt::format("{:.3f}", mine),
            fmt::format("{:.3f}", theirs),
            fmt::format("{:.2f}", theirs / mine),
            fmt::format("{:.2f}", mine / one_pass),
            fmt::format("{:.1f}", found[iterations].get<double>())};
  };
  return fmt::format("{} images ({}) with {:.0f} descriptors of {}, mu = {}, one thread\n",
                     found["images"].dump(), found["data"].get<std::string>(),
                     found["descriptors"].get<double>(), found["dimension"].dump(),
                     found["mu"].get<double>()) +
         FormatTable(
             {{"what", "ours, ms", "direct, ms", "direct/ours", "ours/one pass", "iterations"},
              row("generalised max pooling", "ours_ms", "direct_ms", "iterations"),
              row("coupled with SAH", "coupled_ours_ms", "coupled_direct_ms",
                  "coupled_iterations")}) +
         fmt::format(
             "one pass over the descriptors: {:.3f} ms\n"
             "bits that are those of the direct solver in double precision: {:.4f} %\n",
             one_pass, 100 * found["bits_equal"].get<double>());
}

}  // namespace

void AddTrainingBench(CLI::App* parent, Session& session) {
  const auto options = std::make_shared<bench::TrainingBenchOptions>();
  CLI::App* command = parent->add_subcommand("training", "Training and encoding");
  command->add_option("--size", options->size, "Share of the usual number of samples")
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "The best of this many runs counts")
      ->capture_default_str();
  command->footer("Example:\n  bitpool-bench training --json");
  command->callback([options, &session] {
    session.action = [options, &session] {
      return Show(session, bench::RunTrainingBench(*options, session.MakeContext()),
                  &ReadableTraining);
    };
  });
}

void AddPoolingBench(CLI::App* parent, Session& session) {
  const auto options = std::make_shared<bench::PoolingBenchOptions>();
  CLI::App* command = parent->add_subcommand("pooling", "Pooling of local features, on one thread");
  command->add_option("--features", options->features,
                      "Feature set (.bpf) with real images instead of generated ones");
  command
      ->add_option("--network", options->network,
                   "Or a network for real features: squeezenet, resnet50, or the files of another")
      ->expected(1, 2);
  command->add_option("--pictures", options->pictures, "The folder of pictures for it");
  command->add_option("--layer", options->layer, "Its layer (default: the network's)");
  command->add_option("--size", options->size, "Pixels along each side of what it sees")
      ->capture_default_str();
  command->add_option("--descriptors", options->descriptors, "Descriptors of a generated image")
      ->capture_default_str();
  command->add_option("--mu", options->mu, "How much a large vector costs")->capture_default_str();
  command->add_option("--gamma", options->gamma, "Weight of the aggregation in SAH")
      ->capture_default_str();
  command->add_option("--bits", options->bits, "Length of SAH's codes")->capture_default_str();
  command->add_option("--images", options->images, "Images to pool in turn")->capture_default_str();
  command->add_option("--rounds", options->rounds, "The best of this many runs counts")
      ->capture_default_str();
  command->footer("Example:\n  bitpool-bench pooling --features holidays.bpf --json");
  command->callback([options, &session] {
    session.action = [options, &session] {
      const auto run = [&] { return bench::RunPoolingBench(*options, session.MakeContext()); };
      return Show(session,
                  options->features.empty() ? run() : NamingTheFile(options->features, run),
                  &ReadablePooling);
    };
  });
}

}  // namespace bitpool::app
