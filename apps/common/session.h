#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/run_context.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/env.h"

namespace bitpool::app {

// Exit statuses; docs/cli.md lists them for users.
enum ExitStatus : int {
  kExitFine = 0,
  kExitInternal = 1,
  kExitUsage = 2,
  kExitNotFound = 3,
  kExitCorrupt = 4,
  kExitIo = 5,
  kExitResources = 6,
  kExitSomeFailed = 7,
  kExitInterrupted = 130,
};

int ExitStatusOf(ErrorCode code);

// What all subcommands share: the global options, and where their words go. Data goes to standard
// output, everything else to standard error. Names of files in it cannot control a terminal.
class Session {
 public:
  // Adds --threads, --seed, --quiet and --json, which are understood before and after the
  // subcommand.
  explicit Session(CLI::App& app);

  // What the chosen subcommand does; it returns an exit status. Set while the command line is
  // parsed.
  std::function<int()> action;

  bool json() const { return json_; }
  RunContext MakeContext() const;
  void set_stop(std::stop_token stop) { stop_ = std::move(stop); }

  // A remark for a person, on standard error unless --quiet.
  void Say(const std::string& line) const;
  // A failure, always one line on standard error.
  static void Complain(const std::string& line);
  // Results, on standard output. Throws kIo when they cannot be written.
  static void Print(const std::string& text);
  static void Print(const nlohmann::json& json);

 private:
  int threads_ = 0;
  uint64_t seed_ = 1;
  bool quiet_ = false;
  bool json_ = false;
  std::stop_token stop_;
};

// For an option that names an output: an empty name is refused, which would mean none.
CLI::Validator NotEmpty();

// Adds --force to a command that writes files.
void AddForce(CLI::App* command, IfExists& if_exists);

// Throws what writing the output would throw: to be called before a long job, not only at its end.
void RequireWritable(Env& env, const std::string& path, IfExists if_exists);

// Runs `job` on the content of a file: what it says about its arguments is then about that file.
template <class Job>
auto NamingTheFile(const std::string& file, const Job& job) {
  try {
    return job();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    throw error.In(file);
  }
}

// Complains about the images of a batch that failed, which have `instead` in the output, and gives
// the exit status of the batch.
int ReportFailures(const FeatureSet& features, const std::vector<FailedImage>& failed,
                   const std::string& instead);

}  // namespace bitpool::app
