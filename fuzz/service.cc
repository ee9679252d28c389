#include "bitpool/serve/service.h"

#include <memory>
#include <string>
#include <string_view>

#include "bitpool/base/random.h"
#include "bitpool/http/problem.h"
#include "bitpool/http/request_checks.h"
#include "bitpool/http/target.h"
#include "bitpool/index/index_file.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/model_file.h"
#include "fuzz.h"

namespace bitpool {
namespace {

void SaveSmallIndex(const std::filesystem::path& path) {
  CodeIndex index({.bits = 16});
  index.Add(BinaryCodes(16, {1, 2, 3, 4, 5, 6, 7, 8}), std::vector<int64_t>{0, 1, 2, 7});
  SaveIndex(Env::Posix(), path, index.Snapshot(), IfExists::kReplace);
}

void SaveSmallModel(const std::filesystem::path& path) {
  const MatrixF vectors = Random(1).NormalMatrix(4, 50);
  const MatrixColumns columns(vectors);
  auto trained = TrainOnVectors({.method = "itq", .bits = 3}, {.vectors = columns},
                                RunContext({.threads = 1}));
  SaveModel(Env::Posix(), path, {.model = std::move(trained.model), .training = {}},
            IfExists::kReplace);
}

// A service on three small pictures, an index and a model, asked without a network.
class FuzzService {
 public:
  FuzzService() {
    for (const uint64_t code : {0x1ULL, 0x3ULL, 0xff00ULL}) {
      folder_.Write(fmt::format("a/{}.jpg", code), testing::FakePicture(code));
    }
    folder_.Write("broken.jpg", "no picture");
    folder_.Update(folder_.MakeUpdate(), RunContext({.threads = 1}));
    SaveSmallIndex(folder_.base() / "codes.bpi");
    SaveSmallModel(folder_.base() / "model.bpm");
    service_ = std::make_unique<Service>(Env::Posix(), ServiceOptions{.body_bytes = 1 << 20});
    service_->AddLibrary("photos", folder_.library());
    service_->AddIndex("codes", folder_.base() / "codes.bpi");
    service_->AddModel("model", folder_.base() / "model.bpm");
  }

  // As the transport does it: what is not admitted is not handled.
  void Ask(const HttpRequest& request) {
    auto admitted = service_->Admit(request);
    if (const auto* admission = std::get_if<Admission>(&admitted)) {
      if (request.body.size() <= admission->body_limit) Check(service_->Handle(request));
    } else {
      Check(std::get<HttpResponse>(admitted));
    }
  }

 private:
  // An answer may be a refusal, but never a mistake of ours.
  static void Check(const HttpResponse& response) {
    if (response.status < 200 || response.status == 500 || response.status > 503) __builtin_trap();
    if (const auto* range = std::get_if<SourceRange>(&response.body)) {
      std::string text(range->length, '\0');
      range->source->ReadAt(range->offset, text);
    }
  }

  testing::PictureFolder folder_;
  std::unique_ptr<Service> service_;
};

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

HttpRequest ReadRequest(std::string_view text) {
  HttpRequest request{.method = std::string(TakeLine(text)), .target = std::string(TakeLine(text))};
  request.id = "fuzz";
  request.headers.Add("Host", "localhost");
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (line.empty()) break;
    const size_t colon = std::min(line.find(':'), line.size());
    request.headers.Add(line.substr(0, colon), line.substr(std::min(colon + 1, line.size())));
  }
  request.body = text;
  return request;
}

// Jobs run on threads of their own, beyond the end of an input.
bool StartsJob(const HttpRequest& request) {
  try {
    const std::vector<std::string> path = ParseTarget(request.target).segments;
    return request.method == "POST" && !path.empty() && path.back() == "updates";
  } catch (const ProblemError&) {
    return false;
  }
}

}  // namespace
}  // namespace bitpool

// Method, target, header fields and, after an empty line, the body of a request.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  constexpr int kRequests = 5000;  // to one service, which grows with what is added to its index
  static std::unique_ptr<FuzzService> service;
  static int asked = 0;
  if (asked++ % kRequests == 0) service = std::make_unique<FuzzService>();
  const HttpRequest request = ReadRequest({reinterpret_cast<const char*>(data), size});
  if (!StartsJob(request) && !FindProtocolProblem(request, 11)) service->Ask(request);
  return 0;
}
