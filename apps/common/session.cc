#include "session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bitpool/base/shown_text.h"
#include "bitpool/io/mapping_guard.h"
#include "number_checks.h"

namespace bitpool::app {
namespace {

void Write(std::string_view text) {
  RequireMappedFilesWhole();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorCode::kIo, "cannot write to standard output");
  }
}

// JSON has control characters of ASCII escaped, but not those of Latin-1 (U+0080 to U+009F), which
// some terminals also obey.
std::string EscapeLatinControls(const std::string& json) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string escaped;
  escaped.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const auto next = static_cast<unsigned char>(i + 1 < json.size() ? json[i + 1] : 0);
    if (json[i] != '\xC2' || next >= 0xA0) {
      escaped += json[i];
      continue;
    }
    escaped += "\\u00";
    escaped += {kDigits[next / 16], kDigits[next % 16]};
    ++i;
  }
  return escaped;
}

}  // namespace

int ExitStatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return kExitUsage;
    case ErrorCode::kNotFound:
      return kExitNotFound;
    case ErrorCode::kCorrupt:
    case ErrorCode::kUnsupported:
      return kExitCorrupt;
    case ErrorCode::kIo:
      return kExitIo;
    case ErrorCode::kResources:
      return kExitResources;
    case ErrorCode::kCancelled:
      return kExitInterrupted;
    case ErrorCode::kInternal:
      return kExitInternal;
  }
  return kExitInternal;
}

Session::Session(CLI::App& app) {
  app.add_option("--threads", threads_, "Number of threads; 0 takes all cores")
      ->check(WholeFrom(0))
      ->capture_default_str();
  app.add_option("--seed", seed_, "The same seed gives the same result, at any number of threads")
      ->capture_default_str();
  app.add_flag("--quiet,-q", quiet_, "No progress and no remarks, only failures");
  app.add_flag("--json", json_, "Print results as JSON");
}

RunContext Session::MakeContext() const {
  std::shared_ptr<ProgressSink> progress;
  if (!quiet_) {
    const auto write = [](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::fflush(stderr);
    };
    progress = std::make_shared<ProgressPrinter>(write, isatty(STDERR_FILENO) != 0);
  }
  return RunContext({.threads = threads_, .seed = seed_, .stop = stop_, .progress = progress});
}

void Session::Say(const std::string& line) const {
  if (!quiet_) std::fprintf(stderr, "%s\n", ShownText(line).c_str());
}

void Session::Complain(const std::string& line) {
  std::fprintf(stderr, "bitpool: %s\n", ShownName(line).c_str());
}

void Session::Print(const std::string& text) { Write(ShownText(text)); }

void Session::Print(const nlohmann::json& json) {
  Write(EscapeLatinControls(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) +
        "\n");
}

CLI::Validator NotEmpty() {
  return {[](const std::string& value) {
            return value.empty() ? std::string("expected a name, got nothing") : std::string();
          },
          ""};
}

void AddForce(CLI::App* command, IfExists& if_exists) {
  command->add_flag_callback(
      "--force,-f", [&if_exists] { if_exists = IfExists::kReplace; },
      "Replace an output that exists");
}

void RequireWritable(Env& env, const std::string& path, IfExists if_exists) {
  const AtomicFile begun_and_dropped(env, path, if_exists);
}

int ReportFailures(const FeatureSet& features, const std::vector<FailedImage>& failed,
                   const std::string& instead) {
  for (const FailedImage& image : failed) {
    Session::Complain(
        fmt::format("{}: {}; it has the {}", features.name(image.image), image.reason, instead));
  }
  return failed.empty() ? kExitFine : kExitSomeFailed;
}

}  // namespace bitpool::app
