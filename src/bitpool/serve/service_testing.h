#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bitpool/library/library_testing.h"
#include "bitpool/serve/service.h"

// Shared by the tests of routes: a service on a folder of fake pictures, asked without a network.
namespace bitpool::testing {

inline std::string BodyOf(const HttpResponse& response) {
  if (const auto* text = std::get_if<std::string>(&response.body)) return *text;
  if (const auto* shared = std::get_if<HttpResponse::SharedText>(&response.body)) return **shared;
  if (const auto* range = std::get_if<SourceRange>(&response.body)) {
    std::string text(range->length, '\0');
    range->source->ReadAt(range->offset, text);
    return text;
  }
  return {};
}

class ServiceTest : public ::testing::Test {
 protected:
  void Begin(ServiceOptions options = {}) {
    service = std::make_unique<Service>(Env::Posix(), std::move(options));
    service->AddLibrary("photos", folder.library());
  }
  // A picture for every code, named by its place.
  void Fill(const std::vector<uint64_t>& codes) {
    for (size_t i = 0; i < codes.size(); ++i) {
      folder.Write(fmt::format("{}.jpg", i), FakePicture(codes[i], 4, 3, std::to_string(i)));
    }
    folder.Update();
  }

  // As the transport does it: what is not admitted is not handled.
  HttpResponse Ask(HttpRequest request) {
    if (!request.headers.Has("Host")) request.headers.Add("Host", "localhost");
    request.id = "test-1";
    request.received = std::chrono::steady_clock::now();
    auto admitted = service->Admit(request);
    if (auto* refusal = std::get_if<HttpResponse>(&admitted)) return std::move(*refusal);
    return service->Handle(request);
  }
  HttpResponse Get(const std::string& target, HttpHeaders headers = {}) {
    return Ask({.method = "GET", .target = target, .headers = std::move(headers)});
  }
  HttpResponse Post(const std::string& target, const std::string& body,
                    const std::string& type = "application/json") {
    return Ask(
        {.method = "POST", .target = target, .headers = {{"Content-Type", type}}, .body = body});
  }
  // Sends bytes and asks for bytes.
  HttpResponse PostRaw(const std::string& target, const std::string& bytes) {
    return Ask({.method = "POST",
                .target = target,
                .headers = {{"Content-Type", "application/octet-stream"},
                            {"Accept", "application/octet-stream"}},
                .body = bytes});
  }
  static nlohmann::json Json(const HttpResponse& response) {
    return nlohmann::json::parse(BodyOf(response), nullptr, false);
  }
  nlohmann::json GetJson(const std::string& target) {
    const HttpResponse response = Get(target);
    EXPECT_EQ(response.status, 200) << target << ": " << BodyOf(response);
    return Json(response);
  }
  void ExpectProblem(const HttpResponse& response, int status, const std::string& code,
                     const std::string& words = "") {
    EXPECT_EQ(response.status, status) << BodyOf(response);
    EXPECT_EQ(response.headers.Find("Content-Type"), "application/problem+json");
    const nlohmann::json problem = Json(response);
    EXPECT_EQ(problem["code"], code) << problem;
    EXPECT_EQ(problem["request_id"], "test-1");
    EXPECT_NE(problem["detail"].get<std::string>().find(words), std::string::npos) << problem;
  }

  PictureFolder folder;
  std::unique_ptr<Service> service;
};

}  // namespace bitpool::testing
