#include "bitpool/networks/onnx_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

// Messages by hand, from the rules of Protocol Buffers' encoding; all sizes here are below 128.
std::string Number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string Bytes(int field, const std::string& content) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(content.size())} +
         content;
}

// The fields of a tensor.
std::string Shape(const std::vector<int>& sizes) {
  std::string message;
  for (const int size : sizes) message += Number(1, size);
  return message;
}
std::string Type(int type) { return Number(2, type); }
std::string Raw(size_t bytes) { return Bytes(9, std::string(bytes, 'x')); }

std::string ModelWithWeights(const std::string& tensor) { return Bytes(7, Bytes(5, tensor)); }
std::string ModelWithAttribute(const std::string& content) {
  return Bytes(7, Bytes(1, Bytes(5, content)));
}

// What is wrong with a model; empty when nothing is.
std::string Complaint(const std::string& model) {
  try {
    RequireWholeTensors(std::as_bytes(std::span(model)));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    return error.what();
  }
  return "";
}

void ExpectFine(const std::string& model) { EXPECT_EQ(Complaint(model), ""); }
void ExpectRefused(const std::string& model, const std::string& why) {
  EXPECT_NE(Complaint(model).find(why), std::string::npos) << Complaint(model);
}

TEST(OnnxCheck, RawNumbersAreAsManyAsTheShapeSays) {
  constexpr int kFloat = 1, kUint8 = 2, kInt64 = 7, kHalf = 10, kDouble = 11;
  ExpectFine(ModelWithWeights(Shape({2, 3}) + Type(kFloat) + Raw(24)));
  ExpectFine(ModelWithWeights(Shape({2, 3}) + Type(kUint8) + Raw(6)));
  ExpectFine(ModelWithWeights(Shape({2, 3}) + Type(kInt64) + Raw(48)));
  ExpectFine(ModelWithWeights(Shape({2, 3}) + Type(kHalf) + Raw(12)));
  ExpectFine(ModelWithWeights(Shape({2, 3}) + Type(kDouble) + Raw(48)));
  ExpectFine(ModelWithWeights(Type(kFloat) + Raw(4)));  // no shape: a single number
  ExpectRefused(ModelWithWeights(Bytes(8, "w") + Shape({2, 3}) + Type(kFloat) + Raw(25)),
                "tensor \"w\": expected 24 bytes by its shape, found 25");
  ExpectRefused(ModelWithWeights(Shape({2, 3}) + Type(kDouble) + Raw(24)), "expected 48 bytes");
  ExpectRefused(ModelWithWeights(Shape({0, 3}) + Type(kFloat) + Raw(4)), "expected 0 bytes");
}

TEST(OnnxCheck, ListedNumbersAreAsManyAsTheShapeSays) {
  const std::string three_floats = Bytes(4, std::string(12, 'x'));
  ExpectFine(ModelWithWeights(Shape({3}) + Type(1) + three_floats));
  ExpectFine(ModelWithWeights(Bytes(1, "\x03\x02") + Type(1) + three_floats + three_floats));
  const std::string one_float = std::string{4 << 3 | 5} + "abcd";
  ExpectFine(ModelWithWeights(Shape({2}) + Type(1) + one_float + one_float));
  ExpectRefused(ModelWithWeights(Shape({2}) + Type(1) + one_float), "expected 2 numbers");
  const std::string two_integers = Bytes(7, "\xac\x02\x01");  // 300 and 1
  ExpectFine(ModelWithWeights(Shape({2}) + Type(7) + two_integers));
  ExpectRefused(ModelWithWeights(Shape({3}) + Type(7) + two_integers), "expected 3 numbers");
}

// OpenCV looks for a float's numbers among its own or the raw ones, whatever else is there.
TEST(OnnxCheck, NumbersOfAnotherTypeDoNotCount) {
  const std::string two_integers = Bytes(7, "\x01\x02");
  ExpectRefused(ModelWithWeights(Shape({2}) + Type(1) + two_integers), "expected 8 bytes");
}

TEST(OnnxCheck, TensorsOfAttributesCountToo) {
  const std::string good = Shape({2}) + Type(1) + Raw(8), bad = Shape({2}) + Type(1) + Raw(7);
  ExpectFine(ModelWithAttribute(Bytes(5, good)));
  ExpectRefused(ModelWithAttribute(Bytes(5, bad)), "expected 8 bytes");
  ExpectRefused(ModelWithAttribute(Bytes(10, good) + Bytes(10, bad)), "expected 8 bytes");
  ExpectRefused(ModelWithAttribute(Bytes(5, good) + Bytes(5, good)), "two tensors");
  ExpectRefused(ModelWithAttribute(Bytes(6, Bytes(5, bad))), "expected 8 bytes");   // a graph
  ExpectRefused(ModelWithAttribute(Bytes(11, Bytes(5, bad))), "expected 8 bytes");  // graphs
}

TEST(OnnxCheck, ImpossibleShapesAreRefused) {
  const std::string minus_one = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  ExpectRefused(ModelWithWeights(minus_one + Type(1) + Raw(4)), "negative or enormous");
  const std::string two_to_20 = "\x08\x80\x80\x40";
  ExpectRefused(ModelWithWeights(two_to_20 + two_to_20 + Type(1) + Raw(4)), "enormous shape");
}

TEST(OnnxCheck, BrokenEncodingsAreRefused) {
  const std::string good = ModelWithWeights(Shape({2}) + Type(1) + Raw(8));
  for (size_t size = 1; size < good.size(); ++size) {
    EXPECT_NE(Complaint(good.substr(0, size)), "") << size;
  }
  ExpectRefused(std::string(11, '\xff'), "more than ten bytes");
  ExpectRefused(std::string("\x02\x00", 2), "impossible number");
  ExpectRefused("\x0b", "unknown kind");  // a group, which ONNX never had
  std::string deep = Shape({2});
  for (int i = 0; i < 17; ++i) deep = Bytes(1, Bytes(5, Bytes(6, deep)));
  ExpectRefused(Bytes(7, deep), "without end");
}

TEST(OnnxCheck, NothingIsFine) { ExpectFine(""); }

}  // namespace
}  // namespace bitpool
