#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/hash/baselines/testing.h"
#include "bitpool/samples/labels.h"

// Shared by the tests of the supervised methods.
namespace bitpool {

// The class of each column of MakeClusters.
inline std::vector<int32_t> ClusterClasses(Index count, Index clusters) {
  std::vector<int32_t> classes(static_cast<size_t>(count));
  for (Index i = 0; i < count; ++i)
    classes[static_cast<size_t>(i)] = static_cast<int32_t>(i % clusters);
  return classes;
}

inline Labels ClusterLabels(Index count, Index clusters) {
  return Labels::Single(ClusterClasses(count, clusters));
}

// Some samples with two classes, some with none, and one class (7) that never occurs.
inline Labels UnevenLabels(Index count) {
  std::vector<std::vector<int32_t>> classes(static_cast<size_t>(count));
  for (Index i = 0; i < count; ++i) {
    auto& mine = classes[static_cast<size_t>(i)];
    if (i % 11 == 3) continue;
    mine.push_back(static_cast<int32_t>(i % 5));
    if (i % 4 == 1) mine.push_back(static_cast<int32_t>(5 + i % 2));
    if (i == 20) mine.push_back(8);  // a class of one sample
  }
  return Labels::Multi(classes);
}

inline MatrixD DenseLabels(const Labels& labels) {
  MatrixD dense = MatrixD::Zero(labels.class_count(), labels.size());
  for (Index i = 0; i < labels.size(); ++i) {
    for (const int32_t label : labels.of(i)) dense(label, i) = 1;
  }
  return dense;
}

// The mean Hamming distance of two samples of one class, and of two classes.
struct ClassDistances {
  double same = 0, different = 0;
};

inline ClassDistances MeasureClasses(const BinaryCodes& codes, const Labels& labels) {
  ClassDistances sums;
  double same = 0, different = 0;
  for (Index i = 0; i < codes.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const auto distance = static_cast<double>(HammingDistance(codes.code(i), codes.code(j)));
      if (ShareClass(labels.of(i), labels.of(j))) {
        sums.same += distance;
        same += 1;
      } else {
        sums.different += distance;
        different += 1;
      }
    }
  }
  return {.same = sums.same / same, .different = sums.different / different};
}

// Codes of new samples of the same clusters tell the classes apart. train(source, labels, context)
template <class Train>
void ExpectSeparatesClasses(const Train& train) {
  const MatrixF all = MakeClusters(20, 1500, 6, 3);
  const HashModel model =
      train(MatrixColumns(all.leftCols(1200)), ClusterLabels(1200, 6), RunContext()).model;
  const ClassDistances distances =
      MeasureClasses(model.encoder->Encode(all.rightCols(300)), ClusterLabels(300, 6));
  EXPECT_LT(5 * distances.same, distances.different)
      << distances.same << " " << distances.different;
}

// What every supervised method refuses and accepts.
template <class Train>
void ExpectKeepsTheRulesOfLabels(const Train& train) {
  const MatrixF x = MakeClusters(8, 60, 5, 1);
  const auto refusal = [&](const Labels& labels) {
    return RefusalOf([&] { train(MatrixColumns(x), labels, RunContext()); });
  };
  EXPECT_NE(refusal(ClusterLabels(59, 5)).find("59 samples for 60"), std::string::npos);
  EXPECT_NE(refusal(ClusterLabels(60, 1)).find("at least two classes"), std::string::npos);
  EXPECT_NE(
      refusal(Labels::Multi(std::vector<std::vector<int32_t>>(60))).find("at least two classes"),
      std::string::npos);
  EXPECT_EQ(refusal(UnevenLabels(60)), "(no error)");
  std::vector<std::vector<int32_t>> two_alone(60);
  two_alone[3] = {0};
  two_alone[40] = {17};
  EXPECT_EQ(refusal(Labels::Multi(two_alone)), "(no error)");
}

// A thousand classes with three samples each.
template <class Train>
void ExpectLearnsManyClasses(const Train& train) {
  const MatrixF x = MakeClusters(32, 3000, 1000, 5);
  const Labels labels = ClusterLabels(3000, 1000);
  const HashModel model = train(MatrixColumns(x), labels, RunContext()).model;
  const ClassDistances distances = MeasureClasses(model.encoder->Encode(x), labels);
  EXPECT_LT(1.5 * distances.same, distances.different)
      << distances.same << " " << distances.different;
}

}  // namespace bitpool
