#include "bitpool/http/request_checks.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

int ProtocolStatus(HttpHeaders headers, int version = 11) {
  if (!headers.Has("Host") && version == 11) headers.Add("Host", "localhost");
  const auto problem = FindProtocolProblem(
      {.method = "POST", .target = "/", .headers = std::move(headers)}, version);
  return problem ? problem->status : 0;
}

TEST(RequestChecksTest, WhatTwoProgramsMightReadInTwoWaysIsRefused) {
  EXPECT_EQ(ProtocolStatus({}), 0);
  EXPECT_EQ(ProtocolStatus({{"Content-Length", "4"}}), 0);
  EXPECT_EQ(ProtocolStatus({{"Transfer-Encoding", "Chunked"}}), 0);
  EXPECT_EQ(ProtocolStatus({{"Content-Length", "4"}, {"Transfer-Encoding", "chunked"}}), 400);
  EXPECT_EQ(ProtocolStatus({{"Content-Length", "4"}, {"Content-Length", "4"}}), 400);
  EXPECT_EQ(ProtocolStatus({{"Transfer-Encoding", "gzip, chunked"}}), 501);
  EXPECT_EQ(ProtocolStatus({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "x"}}), 501);
  EXPECT_EQ(ProtocolStatus({{"Transfer-Encoding", "chunked"}}, 10), 400);
  EXPECT_EQ(ProtocolStatus({{"Host", "a"}, {"Host", "b"}}), 400);
  EXPECT_EQ(ProtocolStatus({{"Host", ""}}), 400);
  EXPECT_EQ(ProtocolStatus({{"Content-Encoding", "gzip"}}), 415);
  EXPECT_EQ(ProtocolStatus({{"Expect", "cookies"}}), 417);
  EXPECT_EQ(ProtocolStatus({}, 20), 505);
  EXPECT_EQ(ProtocolStatus({}, 10), 0);
}

int OriginStatus(const HttpHeaders& headers, const std::string& method = "GET") {
  const auto problem = FindOriginProblem({.method = method, .target = "/", .headers = headers},
                                         {"photos.example.org"});
  return problem ? problem->status : 0;
}

TEST(RequestChecksTest, OnlyKnownNamesOfTheServer) {
  for (const char* host : {"localhost", "LocalHost:8080", "127.0.0.1:8080", "[::1]:8080",
                           "192.168.0.7", "Photos.example.org:443"}) {
    EXPECT_EQ(OriginStatus({{"Host", host}}), 0) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "1e100.net", "[evil]", "[::1"}) {
    EXPECT_EQ(OriginStatus({{"Host", host}}), 421) << host;
  }
}

TEST(RequestChecksTest, OnlyPagesOfTheServerItself) {
  const auto with = [](const char* name, const char* value) {
    return HttpHeaders{{"Host", "localhost:8080"}, {name, value}};
  };
  EXPECT_EQ(OriginStatus(with("Origin", "http://localhost:8080"), "POST"), 0);
  EXPECT_EQ(OriginStatus(with("Origin", "http://localhost:9090"), "POST"), 403);
  EXPECT_EQ(OriginStatus(with("Origin", "https://evil.example"), "POST"), 403);
  EXPECT_EQ(OriginStatus(with("Origin", "null"), "POST"), 403);
  EXPECT_EQ(OriginStatus(with("Origin", "")), 403);
  EXPECT_EQ(OriginStatus(with("Sec-Fetch-Site", "same-origin"), "POST"), 0);
  EXPECT_EQ(OriginStatus(with("Sec-Fetch-Site", "cross-site")), 403);
  HttpHeaders link = with("Sec-Fetch-Site", "cross-site");
  link.Add("Sec-Fetch-Mode", "navigate");
  EXPECT_EQ(OriginStatus(link), 0);
  EXPECT_EQ(OriginStatus(link, "POST"), 403);
}

}  // namespace
}  // namespace bitpool
