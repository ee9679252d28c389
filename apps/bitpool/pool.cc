#include <fmt/format.h>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/io/sample_formats.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct PoolOptions {
  std::string method = "gmp", features, out;
  double mu = PoolingRecipe().mu;
  bool normalise = true;
  IfExists if_exists = IfExists::kFail;
};

int Pool(const PoolOptions& options, const Session& session) {
  Env& env = Env::Posix();
  RequireWritable(env, options.out, options.if_exists);
  const FeatureFile features = FeatureFile::Open(env, options.features);
  const PooledImages pooled =
      PoolImagesBy(options.method, options.mu, options.normalise, features, session.MakeContext());
  const auto writer =
      CreateSamples(env, options.out, DType::kF4, {static_cast<uint64_t>(features.dimension())},
                    options.if_exists);
  writer->Append<float>({pooled.vectors.data(), static_cast<size_t>(pooled.vectors.size())});
  writer->Commit();
  session.Say(fmt::format("{}: {} vectors of dimension {}", options.out, pooled.vectors.cols(),
                          pooled.vectors.rows()));
  return ReportFailures(features, pooled.failed, "vector of zeros");
}

}  // namespace

void AddPool(CLI::App& app, Session& session) {
  const auto options = std::make_shared<PoolOptions>();
  CLI::App* command = app.add_subcommand("pool", "Turn the local features of images into vectors");
  command
      ->add_option("--method", options->method,
                   "gmp (generalised max pooling), sum, mean, or max for non-negative features")
      ->check(CLI::IsMember({"gmp", "sum", "mean", "max"}))
      ->capture_default_str();
  command->add_option("--features", options->features, "Images as local features (.bpf)")
      ->required();
  command->add_option("-o,--out", options->out, "Where to write the vectors: .npy, .fvecs or .bpv")
      ->required();
  command->add_option("--mu", options->mu, "How much a large vector costs (gmp)")
      ->capture_default_str();
  command->add_flag("!--no-normalise", options->normalise, "Take local features as they are");
  AddForce(command, options->if_exists);
  command->footer("Example:\n  bitpool pool --method gmp --features images.bpf -o vectors.npy");
  command->callback([options, &session] {
    session.action = [options, &session] { return Pool(*options, session); };
  });
}

}  // namespace bitpool::app
