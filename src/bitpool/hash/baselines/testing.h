#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/testing.h"

// Shared by the tests of this room.
namespace bitpool {

// Samples around random centres, the later dimensions narrower.
inline MatrixF MakeClusters(Index dimension, Index count, Index clusters, uint64_t seed,
                            float mean = 0) {
  Random random(seed);
  const MatrixF centres = 2.0F * random.NormalMatrix(dimension, clusters);
  MatrixF data = random.NormalMatrix(dimension, count);
  for (Index i = 0; i < count; ++i) data.col(i) += centres.col(i % clusters);
  for (Index i = 0; i < dimension; ++i) data.row(i) *= 3.0F / static_cast<float>(i + 3);
  data.array() += mean;
  return data;
}

inline VectorD MeanOf(const MatrixF& data) { return data.cast<double>().rowwise().mean(); }

inline bool BitOf(const BinaryCodes& codes, Index code, int bit) {
  return (codes.code(code)[static_cast<size_t>(bit) / 8] >> (bit % 8) & 1) != 0;
}

inline void ExpectSameModel(const HashModel& a, const HashModel& b) {
  EXPECT_EQ(a.method, b.method);
  const std::vector<NamedMatrix> left = a.encoder->Parameters(), right = b.encoder->Parameters();
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].first, right[i].first);
    EXPECT_TRUE(SameBits(left[i].second, right[i].second)) << left[i].first;
  }
  EXPECT_TRUE(SameBits(a.decoder.weights, b.decoder.weights));
  EXPECT_TRUE(SameBits(a.decoder.bias, b.decoder.bias));
}

// The same model at 1 and 4 threads, and from a source that copies. train(source, context)
template <class Train>
void ExpectSameAtAnyNumberOfThreads(const MatrixF& data, const Train& train) {
  const Trained<HashModel> one = train(MatrixColumns(data), RunContext({.threads = 1}));
  const Trained<HashModel> four = train(CopiedColumns(data), RunContext({.threads = 4}));
  ExpectSameModel(one.model, four.model);
  ASSERT_EQ(one.summary.iterations.size(), four.summary.iterations.size());
  for (size_t i = 0; i < one.summary.iterations.size(); ++i) {
    EXPECT_EQ(one.summary.iterations[i].objective, four.summary.iterations[i].objective);
  }
}

// What every method refuses. train(source, context) is to work with 8 dimensions.
template <class Train>
void ExpectRefusesBadData(const Train& train) {
  const auto refusal = [&](const MatrixF& data) {
    return RefusalOf([&] { train(MatrixColumns(data), RunContext()); });
  };
  const MatrixF good = MakeClusters(8, 100, 5, 1);
  EXPECT_EQ(refusal(good), "(no error)");
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    MatrixF data = good;
    data(3, 77) = bad;
    EXPECT_NE(refusal(data).find("column 77"), std::string::npos) << refusal(data);
  }
  EXPECT_NE(refusal(MatrixF::Constant(8, 100, 5)).find("all alike"), std::string::npos);
  EXPECT_NE(refusal(MatrixF(8, 0)).find("0 training samples"), std::string::npos);
  EXPECT_NE(refusal(good.leftCols(1)).find("1 training samples"), std::string::npos);
  const std::string no_rows = refusal(MatrixF(0, 100));
  EXPECT_NE(no_rows, "(no error)");
  EXPECT_EQ(no_rows.find("(another error)"), std::string::npos) << no_rows;

  const Trained<HashModel> trained = train(MatrixColumns(good), RunContext());
  EXPECT_NE(RefusalOf([&] {
              trained.model.encoder->Encode(MatrixF::Zero(7, 2));
            }).find("dimension 7; the encoder was trained for dimension 8"),
            std::string::npos);
  EXPECT_EQ(trained.model.encoder->Encode(MatrixF(8, 0)).size(), 0);
  MatrixF query = good.leftCols(3);
  query(0, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(trained.model.encoder->Encode(query), Error);

  std::stop_source stop;
  stop.request_stop();
  try {
    train(MatrixColumns(good), RunContext({.stop = stop.get_token()}));
    ADD_FAILURE() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

}  // namespace bitpool
