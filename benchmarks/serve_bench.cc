#include "serve_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/http/http_server.h"
#include "bitpool/library/picture_library.h"
#include "bitpool/serve/service.h"
#include "http_load.h"

namespace bitpool::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kServedBits = 64;
constexpr uint64_t kServedCentres = 20'000;
constexpr double kServedFlip = 0.06;
constexpr int kIdle = 1000;
constexpr int kUploads = 100;
constexpr int kSingleUploads = 20;

// A folder that is gone at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "bitpool-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(ErrorCode::kIo, pattern, "cannot make a folder for the benchmark");
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// The code of a picture that is only its number: a centre with some bits flipped.
uint64_t ServedCode(uint64_t number) {
  Random random = Random(1).Fork(number);
  uint64_t code = Random(2).Fork(random.Below(kServedCentres)).Next();
  for (int bit = 0; bit < kServedBits; ++bit) {
    if (random.Uniform() < kServedFlip) code ^= uint64_t{1} << bit;
  }
  return code;
}

// A library of pictures that are only codes.
void FillLibrary(const fs::path& folder, int64_t codes, const RunContext& context) {
  fs::create_directories(folder / "pictures");
  LibraryUpdate update;
  update.root = folder / "pictures";
  for (int64_t i = 0; i < codes; ++i) {
    update.found.push_back({.path = fmt::format("{:09}.jpg", i), .size = 9, .mtime_ns = 1});
  }
  update.read = [](const FoundPicture& found) {
    const std::string text = found.path.substr(0, 9);
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return std::vector<std::byte>(begin, begin + text.size());
  };
  update.encoding = {.bits = kServedBits,
                     .digest = "numbers",
                     .encode =
                         [](std::span<const std::byte> bytes) {
                           PictureCode result;
                           const std::string text(reinterpret_cast<const char*>(bytes.data()),
                                                  bytes.size());
                           const uint64_t code = ServedCode(std::stoull(text));
                           result.projection = VectorF::Zero(kServedBits);
                           for (int i = 0; i < kServedBits / 8; ++i) {
                             result.code.push_back(static_cast<uint8_t>(code >> (8 * i)));
                           }
                           result.facts = {.width = 1, .height = 1, .format = "jpeg"};
                           return result;
                         },
                     .thumbnail = {}};
  update.batch = 20'000;
  PictureLibrary::Create(Env::Posix(), folder / "library", update.root)
      ->UpdateWith(update, context);
}

double ResidentMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

std::string SearchRequest(uint64_t id, int64_t k) {
  const std::string body = fmt::format("{{\"picture\":{}}}", id);
  return fmt::format(
      "POST /v1/libraries/bench/search?detail=ids&k={} HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      k, body.size(), body);
}

std::string UploadRequest(const std::string& picture) {
  return fmt::format(
             "POST /v1/libraries/photos/search?k=10 HTTP/1.1\r\nHost: localhost\r\n"
             "Content-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n",
             picture.size()) +
         picture;
}

nlohmann::json ToJson(const LoadResult& result) {
  return {{"per_second", result.per_second}, {"median_ms", result.median_ms},
          {"p99_ms", result.p99_ms},         {"cpu_us", result.cpu_us},
          {"answers", result.answers},       {"failures", result.failures}};
}

void KeepBetter(std::optional<LoadResult>& best, const LoadResult& result) {
  if (!best || result.per_second > best->per_second) best = result;
}

// One upload after the other, beside the same search without a network.
nlohmann::json MeasureUploads(const ServeBenchOptions& options, uint16_t port,
                              const std::string& picture, const RunContext& context) {
  const auto library = PictureLibrary::Open(Env::Posix(), options.library);
  const auto bytes = std::as_bytes(std::span(picture));
  const RunContext one_thread({.threads = 1});
  std::vector<double> direct;
  for (int i = 0; i < kSingleUploads; ++i) {
    context.ThrowIfStopped();
    const Stopwatch watch;
    (void)library->Query(bytes, {.k = 10}, one_thread);
    direct.push_back(1000 * watch.seconds());
  }
  std::ranges::sort(direct);
  const std::string request = UploadRequest(picture);
  const LoadResult alone = RunLoad({.port = port, .connections = 1, .seconds = options.seconds},
                                   [&] { return std::string(request); });
  const double before = ResidentMegabytes();
  const IdleConnections idle(port, kIdle);
  const LoadResult together =
      RunLoad({.port = port, .connections = kUploads, .seconds = options.seconds},
              [&] { return std::string(request); });
  return {
      {"picture_bytes", picture.size()}, {"direct_ms", direct[direct.size() / 2]},
      {"alone", ToJson(alone)},          {"beyond_ms", alone.median_ms - direct[direct.size() / 2]},
      {"together", ToJson(together)},    {"idle_connections", kIdle},
      {"uploads_at_once", kUploads},     {"more_memory_mb", ResidentMegabytes() - before}};
}

std::string ReadFile(const std::string& path) {
  const std::vector<std::byte> bytes = Env::Posix().Read(path, uint64_t{64} << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void ServeBenchOptions::Validate() const {
  if (codes < 2 || k < 1 || connections < 1 || rounds < 1 || !(seconds > 0))
    throw Error(ErrorCode::kInvalidArgument,
                "expected two codes or more, and numbers from 1 for the rest");
  if (library.empty() != picture.empty())
    throw Error(ErrorCode::kInvalidArgument, "expected --library and --picture together");
}

nlohmann::json RunServeBench(const ServeBenchOptions& options, const RunContext& context) {
  options.Validate();
  const std::string picture = options.picture.empty() ? "" : ReadFile(options.picture);
  const ScratchFolder scratch;
  FillLibrary(scratch.path(), options.codes, context);
  Service service(Env::Posix(), {});
  service.AddLibrary("bench", scratch.path() / "library");
  if (!options.library.empty()) service.AddLibrary("photos", options.library);
  HttpServer server({.io_threads = std::max(1, context.threads() / 2),
                     .quick_threads = context.threads(),
                     .slow_threads = context.threads()},
                    service);
  service.Start([&server] { return server.status(); });
  const HelloServer hello(context.threads());

  std::atomic<uint64_t> last = 0;
  const auto search = [&] {
    const uint64_t id = 1 + (++last * 7919) % static_cast<uint64_t>(options.codes);
    return SearchRequest(id, options.k);
  };
  const std::string greeting = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::optional<LoadResult> searches, greetings, empty;
  for (int round = 0; round < options.rounds; ++round) {
    context.ThrowIfStopped();
    const LoadOptions load{.port = hello.port(),
                           .connections = options.connections,
                           .threads = 1,
                           .seconds = options.seconds};
    KeepBetter(greetings, RunLoad(load, [&] { return std::string(greeting); }));
    LoadOptions ours = load;
    ours.port = server.port();
    KeepBetter(empty, RunLoad(ours, [&] { return std::string(greeting); }));
    KeepBetter(searches, RunLoad(ours, search));
  }
  nlohmann::json result = {{"codes", options.codes},
                           {"k", options.k},
                           {"connections", options.connections},
                           {"threads", context.threads()},
                           {"hello", ToJson(*greetings)},
                           {"empty", ToJson(*empty)},
                           {"search", ToJson(*searches)},
                           {"of_hello", searches->per_second / greetings->per_second},
                           {"uploads", nullptr}};
  if (!picture.empty())
    result["uploads"] = MeasureUploads(options, server.port(), picture, context);
  server.Stop();
  return result;
}

}  // namespace bitpool::bench
