#include "bitpool/metrics/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <stop_token>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/metrics/testing.h"

namespace bitpool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BinaryCodes RandomCodes(Random& random, int bits, Index count) {
  return BinaryCodes::FromSigns(random.NormalMatrix(bits, count));
}

// Every query has some relevant and some ignored items, except every fifth, which has none.
ListedTruth RandomTruth(Random& random, Index queries, Index database) {
  ListedTruth truth(database);
  for (Index query = 0; query < queries; ++query) {
    std::vector<Index> relevant, ignored;
    for (Index item = 0; item < database; ++item) {
      const uint64_t draw = random.Below(10);
      if (draw < 3 && query % 5 != 4) relevant.push_back(item);
      if (draw == 9) ignored.push_back(item);
    }
    truth.AddQuery(relevant, ignored);
  }
  return truth;
}

// The same bits, so that NaN equals NaN.
bool SameNumbers(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

void ExpectSame(const Evaluation& a, const Evaluation& b) {
  EXPECT_TRUE(SameNumbers(a.ap, b.ap));
  EXPECT_EQ(a.mean_ap, b.mean_ap);
  EXPECT_EQ(a.queries_without_relevant, b.queries_without_relevant);
  EXPECT_TRUE(SameNumbers(a.precision_at, b.precision_at));
  EXPECT_TRUE(SameNumbers(a.recall_at, b.recall_at));
  ASSERT_EQ(a.curve.size(), b.curve.size());
  for (size_t i = 0; i < a.curve.size(); ++i) {
    EXPECT_EQ(a.curve[i].precision, b.curve[i].precision);
    EXPECT_EQ(a.curve[i].recall, b.curve[i].recall);
    EXPECT_EQ(a.curve[i].answered, b.curve[i].answered);
  }
}

// One query, from a list of (distance, relevant) in the order of the database.
struct Item {
  int distance;
  bool relevant;
};

std::vector<Item> ItemsOf(const BinaryCodes& database, std::span<const uint8_t> query,
                          const std::vector<Judgement>& judgements) {
  std::vector<Item> items;
  for (Index i = 0; i < database.size(); ++i) {
    const Judgement judgement = judgements[static_cast<size_t>(i)];
    if (judgement == Judgement::kIgnored) continue;
    items.push_back({.distance = HammingDistance(database.code(i), query),
                     .relevant = judgement == Judgement::kRelevant});
  }
  return items;
}

TEST(EvaluateCodes, AgreesWithTheDefinitions) {
  Random random(1);
  struct Case {
    int bits;
    Index database, queries;
  };
  for (const auto& [bits, size, query_count] :
       {Case{1, 40, 3}, Case{8, 64, 9}, Case{13, 5000, 10}, Case{16, 129, 17}, Case{64, 700, 23},
        Case{100, 63, 5}, Case{256, 300, 6}, Case{300, 65, 4}}) {
    const BinaryCodes database = RandomCodes(random, bits, size);
    const BinaryCodes queries = RandomCodes(random, bits, query_count);
    const ListedTruth truth = RandomTruth(random, query_count, size);
    const Protocol protocol{.ap = {.kind = ApKind::kTrapezoidal, .cutoff = 20},
                            .ties = TiePolicy::kInputOrder,
                            .at = {1, 10}};
    const Evaluation evaluation = EvaluateCodes(database, queries, truth, protocol, RunContext());
    double ap_sum = 0, counted = 0, hits_at_10 = 0, recall_at_10 = 0;
    std::vector<RadiusPoint> curve(static_cast<size_t>(bits) + 1);
    for (Index query = 0; query < query_count; ++query) {
      std::vector<Judgement> judgements(static_cast<size_t>(size));
      truth.Judge(query, judgements);
      std::vector<Item> items = ItemsOf(database, queries.code(query), judgements);
      std::stable_sort(items.begin(), items.end(),
                       [](const Item& a, const Item& b) { return a.distance < b.distance; });
      std::vector<bool> results;
      for (const Item& item : items) results.push_back(item.relevant);
      const auto relevant = static_cast<double>(std::count(results.begin(), results.end(), true));
      if (relevant == 0) {
        EXPECT_TRUE(std::isnan(evaluation.ap[static_cast<size_t>(query)]));
        continue;
      }
      ++counted;
      const double ap = ReferenceAp(results, static_cast<Index>(relevant), protocol.ap);
      EXPECT_NEAR(evaluation.ap[static_cast<size_t>(query)], ap, 1e-12);
      ap_sum += ap;
      const auto hits =
          static_cast<double>(std::count(results.begin(), results.begin() + 10, true));
      hits_at_10 += hits;
      recall_at_10 += hits / relevant;
      for (int radius = 0; radius <= bits; ++radius) {
        double within = 0, good = 0;
        for (const Item& item : items) {
          within += item.distance <= radius ? 1 : 0;
          good += item.distance <= radius && item.relevant ? 1 : 0;
        }
        RadiusPoint& point = curve[static_cast<size_t>(radius)];
        point.precision += within > 0 ? good / within : 0;
        point.recall += good / relevant;
        point.answered += within > 0 ? 1 : 0;
      }
    }
    EXPECT_EQ(evaluation.queries_without_relevant, query_count - static_cast<Index>(counted));
    EXPECT_EQ(evaluation.queries_without_relevant, query_count / 5);
    EXPECT_NEAR(evaluation.mean_ap, ap_sum / counted, 1e-12);
    EXPECT_NEAR(evaluation.precision_at[1], hits_at_10 / 10 / counted, 1e-12);
    EXPECT_NEAR(evaluation.recall_at[1], recall_at_10 / counted, 1e-12);
    ASSERT_EQ(evaluation.curve.size(), curve.size());
    for (size_t i = 0; i < curve.size(); ++i) {
      EXPECT_NEAR(evaluation.curve[i].precision, curve[i].precision / counted, 1e-12);
      EXPECT_NEAR(evaluation.curve[i].recall, curve[i].recall / counted, 1e-12);
      EXPECT_NEAR(evaluation.curve[i].answered, curve[i].answered / counted, 1e-12);
    }
  }
}

TEST(EvaluateCodes, DoesNotDependOnTheOrderOfTheDatabase) {
  Random random(2);
  const BinaryCodes queries = RandomCodes(random, 6, 20);
  const MatrixF values = random.NormalMatrix(6, 500);
  std::vector<int32_t> classes(500), query_classes(20);
  for (int32_t& c : classes) c = static_cast<int32_t>(random.Below(5));
  for (int32_t& c : query_classes) c = static_cast<int32_t>(random.Below(5));
  std::vector<Index> order(500);
  std::iota(order.begin(), order.end(), Index{0});
  random.Shuffle(order);
  const MatrixF shuffled = values(Eigen::all, order);
  const LabelTruth truth(Labels::Single(query_classes), Labels::Single(classes));
  const LabelTruth shuffled_truth(Labels::Single(query_classes),
                                  Labels::Single(classes).Select(order));
  Protocol protocol = HashingAt(100);
  protocol.at = {1, 50};
  for (const TiePolicy ties :
       {TiePolicy::kExpected, TiePolicy::kOptimistic, TiePolicy::kPessimistic}) {
    protocol.ties = ties;
    ExpectSame(
        EvaluateCodes(BinaryCodes::FromSigns(values), queries, truth, protocol, RunContext()),
        EvaluateCodes(BinaryCodes::FromSigns(shuffled), queries, shuffled_truth, protocol,
                      RunContext()));
  }
}

TEST(EvaluateCodes, IsTheSameAtAnyNumberOfThreads) {
  Random random(3);
  const BinaryCodes database = RandomCodes(random, 24, 1000);
  const BinaryCodes queries = RandomCodes(random, 24, 101);
  const ListedTruth truth = RandomTruth(random, 101, 1000);
  Protocol protocol = HashingProtocol();
  protocol.at = {3, 30};
  ExpectSame(EvaluateCodes(database, queries, truth, protocol, RunContext({.threads = 1})),
             EvaluateCodes(database, queries, truth, protocol, RunContext({.threads = 4})));
}

TEST(EvaluateDistances, AgreesWithCodes) {
  Random random(4);
  const BinaryCodes database = RandomCodes(random, 10, 400);
  const BinaryCodes queries = RandomCodes(random, 10, 30);
  const ListedTruth truth = RandomTruth(random, 30, 400);
  const DistanceFunction distances = [&](Index query, std::span<float> out) {
    for (Index i = 0; i < database.size(); ++i) {
      out[static_cast<size_t>(i)] =
          static_cast<float>(HammingDistance(database.code(i), queries.code(query))) - 3.5F;
    }
  };
  for (const TiePolicy ties : {TiePolicy::kExpected, TiePolicy::kOptimistic,
                               TiePolicy::kPessimistic, TiePolicy::kInputOrder}) {
    const Protocol protocol{
        .ap = {.divisor = ApDivisor::kFound, .cutoff = 77}, .ties = ties, .at = {2, 20}};
    Evaluation expected = EvaluateCodes(database, queries, truth, protocol, RunContext());
    EXPECT_EQ(expected.curve.size(), 11U);
    expected.curve.clear();
    ExpectSame(EvaluateDistances(distances, truth, protocol, RunContext({.threads = 3})), expected);
  }
}

// −h·b with plain loops.
DistanceFunction PlainAsymmetric(const BinaryCodes& database, const MatrixF& weights) {
  return [&](Index query, std::span<float> out) {
    for (Index i = 0; i < database.size(); ++i) {
      double sum = 0;
      for (Index bit = 0; bit < weights.rows(); ++bit) {
        const bool set = (database.code(i)[static_cast<size_t>(bit / 8)] >> (bit % 8) & 1) != 0;
        sum += set ? weights(bit, query) : -weights(bit, query);
      }
      out[static_cast<size_t>(i)] = static_cast<float>(-sum);
    }
  };
}

TEST(EvaluateAsymmetric, AgreesWithAPlainLoop) {
  Random random(5);
  for (const int bits : {1, 7, 8, 19, 64}) {
    const BinaryCodes database = RandomCodes(random, bits, 300);
    // Weights of few digits: sums are exact in any order.
    const MatrixF weights = (random.NormalMatrix(bits, 25) * 8).array().round() / 8;
    const ListedTruth truth = RandomTruth(random, 25, 300);
    Protocol protocol = HolidaysProtocol();
    protocol.at = {5};
    ExpectSame(
        EvaluateAsymmetric(database, weights, truth, protocol, RunContext({.threads = 2})),
        EvaluateDistances(PlainAsymmetric(database, weights), truth, protocol, RunContext()));
  }
}

TEST(EvaluateAsymmetric, IsHammingWhereAllBitsWeighTheSame) {
  Random random(6);
  const BinaryCodes database = RandomCodes(random, 12, 300);
  const MatrixF signs = random.NormalMatrix(12, 20).cwiseSign();
  const ListedTruth truth = RandomTruth(random, 20, 300);
  Evaluation expected = EvaluateCodes(database, BinaryCodes::FromSigns(signs), truth,
                                      HashingProtocol(), RunContext());
  expected.curve.clear();
  ExpectSame(EvaluateAsymmetric(database, 0.7F * signs, truth, HashingProtocol(), RunContext()),
             expected);
}

TEST(EvaluateAsymmetric, RefusesWhatDoesNotFit) {
  Random random(7);
  const BinaryCodes database = RandomCodes(random, 12, 5);
  ListedTruth truth(5);
  truth.AddQuery({1});
  const auto refusal = [&](const MatrixF& weights) {
    return RefusalOf(
        [&] { EvaluateAsymmetric(database, weights, truth, HashingProtocol(), RunContext()); });
  };
  EXPECT_THAT(refusal(MatrixF::Ones(11, 1)), AllOf(HasSubstr("11"), HasSubstr("12")));
  EXPECT_THAT(refusal(MatrixF::Ones(12, 2)), HasSubstr("weighed queries: 2"));
  EXPECT_THAT(refusal(MatrixF::Constant(12, 1, std::numeric_limits<float>::quiet_NaN())),
              HasSubstr("query 0"));
}

TEST(EvaluateDistances, NamesTheQueryWithABadDistance) {
  ListedTruth truth(5);
  for (Index query = 0; query < 40; ++query) truth.AddQuery({1});
  const DistanceFunction distances = [](Index query, std::span<float> out) {
    std::fill(out.begin(), out.end(), 1.0F);
    if (query >= 33) out[4] = std::numeric_limits<float>::quiet_NaN();
  };
  EXPECT_THAT(
      RefusalOf([&] { EvaluateDistances(distances, truth, HashingProtocol(), RunContext()); }),
      HasSubstr("query 33: item 4"));
}

TEST(Evaluate, NothingToAverage) {
  const ListedTruth no_queries(3);
  const BinaryCodes database(8, {1, 2, 3});
  Protocol protocol = HashingProtocol();
  protocol.at = {1};
  const Evaluation none =
      EvaluateCodes(database, BinaryCodes(8), no_queries, protocol, RunContext());
  EXPECT_TRUE(std::isnan(none.mean_ap));
  EXPECT_TRUE(std::isnan(none.precision_at[0]));
  EXPECT_THAT(none.ap, IsEmpty());
  ListedTruth nothing_relevant(0);
  nothing_relevant.AddQuery({});
  const Evaluation empty = EvaluateCodes(BinaryCodes(8), BinaryCodes(8, {1}), nothing_relevant,
                                         HashingProtocol(), RunContext());
  EXPECT_TRUE(std::isnan(empty.mean_ap));
  EXPECT_EQ(empty.queries_without_relevant, 1);
}

TEST(Evaluate, RefusesWhatDoesNotAgree) {
  const BinaryCodes three(8, {1, 2, 3}), two(8, {1, 2}), longer(16, {1, 2, 3, 4});
  ListedTruth truth(3);
  truth.AddQuery({0});
  truth.AddQuery({1});
  const auto refusal = [&](const BinaryCodes& database, const BinaryCodes& queries) {
    return RefusalOf(
        [&] { EvaluateCodes(database, queries, truth, HashingProtocol(), RunContext()); });
  };
  EXPECT_EQ(refusal(three, two), "(no error)");
  EXPECT_THAT(refusal(two, two), AllOf(HasSubstr("database: 2"), HasSubstr("judges 3")));
  EXPECT_THAT(refusal(three, three), AllOf(HasSubstr("queries: 3"), HasSubstr("queries: 2")));
  EXPECT_THAT(refusal(three, longer), AllOf(HasSubstr("16"), HasSubstr("8")));
  EXPECT_THAT(
      RefusalOf([&] { EvaluateCodes(three, two, truth, Protocol{.at = {0}}, RunContext()); }),
      HasSubstr("at: expected"));
}

TEST(Evaluate, Stops) {
  std::stop_source stop;
  stop.request_stop();
  ListedTruth truth(1);
  truth.AddQuery({0});
  try {
    EvaluateCodes(BinaryCodes(8, {1}), BinaryCodes(8, {1}), truth, HashingProtocol(),
                  RunContext({.stop = stop.get_token()}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace bitpool
