#include "bitpool/dataset/inspect.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/io/container.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

nlohmann::json DescribeFeatures(const FeatureFile& features) {
  Index total = 0, least = 0, most = 0;
  for (Index image = 0; image < features.size(); ++image) {
    const Index count = features.descriptor_count(image);
    total += count;
    least = image == 0 ? count : std::min(least, count);
    most = std::max(most, count);
  }
  const double mean =
      features.size() == 0 ? 0 : static_cast<double>(total) / static_cast<double>(features.size());
  return {{"images", features.size()},
          {"pictures", features.pictures()},
          {"descriptors", total},
          {"dimension", features.dimension()},
          {"descriptors_per_image", {{"min", least}, {"mean", mean}, {"max", most}}}};
}

nlohmann::json DescribeContainer(const Container& container) {
  nlohmann::json description = {
      {"format", "container"}, {"kind", container.kind()}, {"metadata", container.metadata()}};
  for (const Section& section : container.sections()) {
    description["sections"].push_back({{"name", section.name},
                                       {"dtype", DTypeName(section.dtype)},
                                       {"dims", section.dims},
                                       {"bytes", section.length}});
  }
  if (container.kind() == "features")
    description.update(DescribeFeatures(FeatureFile::Parse(container)));
  return description;
}

// A file that is not a container.
SampleFile OpenOther(Env& env, const fs::path& path) {
  try {
    return OpenSamples(env, path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    throw error.With("nor is it a container of Bitpool, as .bpc, .bpf, .bpi and .bpm are");
  }
}

}  // namespace

bool IsContainer(Env& env, const fs::path& path) {
  constexpr std::string_view kMagic =
      "\x89"
      "BITPOOL";
  const auto view = env.Map(path);
  const std::string_view start(reinterpret_cast<const char*>(view->bytes().data()),
                               std::min(view->bytes().size(), kMagic.size()));
  return start == kMagic;
}

nlohmann::json InspectFile(Env& env, const fs::path& path) {
  nlohmann::json description = {{"file", path.string()}, {"bytes", env.Map(path)->bytes().size()}};
  if (IsContainer(env, path)) {
    description.update(DescribeContainer(Container::Open(env, path)));
    return description;
  }
  const SampleFile samples = OpenOther(env, path);
  description["format"] = path.has_extension() ? path.extension().string().substr(1) : "idx";
  description["dtype"] = DTypeName(samples.dtype());
  description["count"] = samples.count();
  description["sample_shape"] = samples.sample_shape();
  return description;
}

void VerifyFile(Env& env, const fs::path& path, const RunContext& context) {
  if (IsContainer(env, path)) {
    const Container container = Container::Open(env, path);
    container.Verify(context);
    if (container.kind() == "features") FeatureFile::Parse(container);
    return;
  }
  const SampleFile samples = OpenOther(env, path);
  Progress progress = context.StartProgress("verifying", "samples", samples.count());
  const uint64_t step = std::max<uint64_t>(1, (uint64_t{1} << 22) / samples.sample_bytes());
  context.ParallelFor(samples.count(), step, [&](size_t begin, size_t end) {
    std::vector<std::byte> block((end - begin) * samples.sample_bytes());
    samples.Read(begin, end - begin, samples.dtype(), block);
    progress.Advance(end - begin);
  });
}

}  // namespace bitpool
