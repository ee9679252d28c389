#include "bitpool/http/negotiation.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "bitpool/http/problem.h"

namespace bitpool {
namespace {

std::optional<ByteRange> RangeOf(const std::string& text, uint64_t size,
                                 const std::string& if_range = "") {
  HttpHeaders headers = {{"Range", text}};
  if (!if_range.empty()) headers.Add("If-Range", if_range);
  return RequestedRange(headers, size, "\"tag\"");
}

TEST(NegotiationTest, EntityTags) {
  EXPECT_TRUE(MatchesEntityTag("\"a\", W/\"b\"", "\"b\""));
  EXPECT_TRUE(MatchesEntityTag("*", "\"b\""));
  EXPECT_FALSE(MatchesEntityTag("\"a\"", "\"b\""));
  EXPECT_FALSE(MatchesEntityTag("", "\"b\""));
}

TEST(NegotiationTest, AcceptedCodings) {
  EXPECT_TRUE(Accepts("br, GZIP", "gzip"));
  EXPECT_TRUE(Accepts("gzip;q=0.5", "gzip"));
  EXPECT_FALSE(Accepts("gzip;q=0", "gzip"));
  EXPECT_FALSE(Accepts("gzip; q=0.000", "gzip"));
  EXPECT_FALSE(Accepts("br", "gzip"));
  EXPECT_FALSE(Accepts("", "gzip"));
}

TEST(NegotiationTest, RangesInside) {
  const auto expect = [](const std::string& text, uint64_t first, uint64_t length) {
    const std::optional<ByteRange> range = RangeOf(text, 100);
    ASSERT_TRUE(range) << text;
    EXPECT_EQ(range->first, first) << text;
    EXPECT_EQ(range->length, length) << text;
  };
  expect("bytes=0-0", 0, 1);
  expect("bytes=10-19", 10, 10);
  expect("bytes=90-", 90, 10);
  expect("bytes=90-1000", 90, 10);
  expect("bytes=-10", 90, 10);
  expect("bytes=-1000", 0, 100);
}

TEST(NegotiationTest, WhatIsNoRangeIsAnsweredByTheWhole) {
  for (const char* text : {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "lines=1-2",
                           "bytes=0-1,4-5", "bytes=1", "bytes=99999999999999999999999-"}) {
    EXPECT_FALSE(RangeOf(text, 100)) << text;
  }
  EXPECT_FALSE(RangeOf("bytes=0-1", 100, "\"other\""));
  EXPECT_TRUE(RangeOf("bytes=0-1", 100, "\"tag\""));
}

TEST(NegotiationTest, RangesOutside) {
  for (const char* text : {"bytes=100-", "bytes=500-600", "bytes=-0"}) {
    EXPECT_THROW(RangeOf(text, 100), ProblemError) << text;
  }
  EXPECT_THROW(RangeOf("bytes=0-", 0), ProblemError);
}

std::string Gunzip(const std::string& bytes, size_t size) {
  std::string text(size, '\0');
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return text;
}

TEST(NegotiationTest, TextIsCompressedForThoseWhoWantIt) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i * i);
  const auto answer = [&](const char* type, const char* accept) {
    HttpResponse response{.headers = {{"Content-Type", type}}, .body = text};
    CompressIfAccepted({.method = "GET", .target = "/", .headers = {{"Accept-Encoding", accept}}},
                       response);
    return response;
  };
  const HttpResponse compressed = answer("application/json", "gzip, br");
  EXPECT_EQ(compressed.headers.Find("content-encoding"), "gzip");
  EXPECT_EQ(Gunzip(std::get<std::string>(compressed.body), text.size()), text);
  EXPECT_FALSE(answer("application/json", "br").headers.Has("Content-Encoding"));
  EXPECT_TRUE(answer("application/json", "br").headers.Has("Vary"));
  EXPECT_FALSE(answer("image/jpeg", "gzip").headers.Has("Content-Encoding"));
}

}  // namespace
}  // namespace bitpool
