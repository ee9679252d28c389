#include "bitpool/reproduction/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/reproduction/catalogue.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

Verdict VerdictOf(std::vector<double> values, double wanted, bool equal_is_enough = false) {
  return Judge(Contrast{.what = "x",
                        .values = std::move(values),
                        .wanted = wanted,
                        .equal_is_enough = equal_is_enough})
      .verdict;
}

TEST(ReproductionClaims, TheSpreadDecides) {
  // Mean 2, standard deviation 1.
  EXPECT_EQ(VerdictOf({1, 2, 3}, 0.5), Verdict::kHeld);
  EXPECT_EQ(VerdictOf({1, 2, 3}, 1.5), Verdict::kNotDecided);
  EXPECT_EQ(VerdictOf({1, 2, 3}, 2.5), Verdict::kNotDecided);
  EXPECT_EQ(VerdictOf({1, 2, 3}, 3.5), Verdict::kNotHeld);
  EXPECT_EQ(VerdictOf({1, 2, 3}, 2.5, true), Verdict::kHeld);
  EXPECT_EQ(VerdictOf({1, 2, 3}, 3.5, true), Verdict::kNotHeld);
}

TEST(ReproductionClaims, OneSeedDecidesNothing) {
  EXPECT_EQ(VerdictOf({100}, 0), Verdict::kNotDecided);
  EXPECT_EQ(VerdictOf({-100}, 0), Verdict::kNotDecided);
  EXPECT_EQ(VerdictOf({}, 0), Verdict::kNotRun);
}

// Methods a and b of the run "r" at 8 and 16 bits with three seeds: a is 1 to 3 above b at 8 bits
// and 11 to 13 at 16, while both vary by tens from seed to seed.
FiguresOfRuns SmallFigures() {
  FiguresOfRuns figures;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const int bits : {8, 16}) {
      const double level = 10.0 * static_cast<double>(seed);
      const double above = static_cast<double>(seed) + (bits == 16 ? 10 : 0);
      figures["r"][{"a", bits, seed}].metrics = {{"mAP", level + above}, {"seconds", 1}};
      figures["r"][{"b", bits, seed}].metrics = {{"mAP", level}, {"seconds", level}};
    }
  }
  return figures;
}

TEST(ReproductionClaims, FiguresOfOneRunAreCompared) {
  const auto contrasts = WithinRun(SmallFigures(), {"r", "b"}, "mAP − seconds",
                                   [](const std::map<std::string, double>& metrics) {
                                     return metrics.at("mAP") - 2 * metrics.at("seconds");
                                   });
  ASSERT_EQ(contrasts.size(), 2U);
  EXPECT_EQ(contrasts[1].values, (std::vector<double>{-10, -20, -30}));
  EXPECT_THAT(contrasts[1].what, HasSubstr("16 bits"));
  EXPECT_TRUE(
      WithinRun(SmallFigures(), {"elsewhere", "b"}, "", [](const auto&) { return 0.0; }).empty());
}

TEST(ReproductionClaims, SeedsArePaired) {
  const std::vector<Contrast> contrasts =
      Differences(SmallFigures(), {"r", "a"}, {"r", "b"}, "mAP", 0.5);
  ASSERT_EQ(contrasts.size(), 2U);
  EXPECT_EQ(contrasts[0].values, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(contrasts[1].values, (std::vector<double>{11, 12, 13}));
  EXPECT_THAT(contrasts[0].what, HasSubstr("8 bits"));
  EXPECT_EQ(Judge(contrasts[0]).verdict, Verdict::kHeld);
  EXPECT_EQ(Judge(contrasts[0]).spread, 1) << "of the differences, not of the figures";
  EXPECT_EQ(Differences(SmallFigures(), {"r", "a"}, {"r", "b"}, "mAP", 0, -1)[0].values,
            (std::vector<double>{-1, -2, -3}));
}

TEST(ReproductionClaims, RatiosAndGrowth) {
  const auto ratios = Ratios(SmallFigures(), {"r", "a"}, {"r", "b"}, "seconds", 10);
  ASSERT_EQ(ratios.size(), 2U);
  EXPECT_EQ(ratios[0].values, (std::vector<double>{10, 20, 30}));
  EXPECT_THAT(ratios[0].what, HasSubstr("b / a"));
  const auto growth = Growth(SmallFigures(), {"r", "a"}, {"r", "b"}, "mAP", 0);
  ASSERT_EQ(growth.size(), 1U);
  EXPECT_EQ(growth[0].values, (std::vector<double>{10, 10, 10}));
  const auto gain = LengthGain(SmallFigures(), {"r", "a"}, "mAP", 0);
  ASSERT_EQ(gain.size(), 1U);
  EXPECT_EQ(gain[0].values, (std::vector<double>{10, 10, 10}));
}

TEST(ReproductionClaims, WhatWasNotRunHasNoContrast) {
  const FiguresOfRuns figures = SmallFigures();
  EXPECT_TRUE(Differences(figures, {"r", "a"}, {"r", "c"}, "mAP", 0).empty());
  EXPECT_TRUE(Differences(figures, {"s", "a"}, {"r", "b"}, "mAP", 0).empty());
  EXPECT_TRUE(Differences(figures, {"r", "a"}, {"r", "b"}, "recall", 0).empty());
}

TEST(ReproductionClaims, AClaimIsAsGoodAsItsWorstComparison) {
  const auto verdict = [](double wanted_at_8, double wanted_at_16) {
    const ClaimSpec claim{.name = "claim",
                          .entry = "entry",
                          .text = "a is above b",
                          .rule = "difference",
                          .contrasts = [&](const FiguresOfRuns& figures) {
                            auto all = Differences(figures, {"r", "a"}, {"r", "b"}, "mAP", 0);
                            all[0].wanted = wanted_at_8;
                            all[1].wanted = wanted_at_16;
                            return all;
                          }};
    return Judge(claim, SmallFigures());
  };
  EXPECT_EQ(verdict(0, 0).verdict, Verdict::kHeld);
  EXPECT_EQ(verdict(2, 0).verdict, Verdict::kNotDecided);
  EXPECT_EQ(verdict(2, 20).verdict, Verdict::kNotHeld);
  EXPECT_THAT(verdict(2, 20).reading,
              HasSubstr("Of 2 comparisons 0 held, 1 not held and 1 not decided"));
}

// Every claim of the paper refers to an entry and to runs and methods that exist: with figures for
// all of them, every claim is judged.
TEST(ReproductionClaims, AllAreJudgedWhenAllWasRun) {
  const RunContext context({.threads = 1});
  const ReproductionCatalogue catalogue =
      MakeReproductionCatalogue(Env::Posix(), {}, ReproductionSizes(), context);
  FiguresOfRuns figures;
  for (const RunSpec& run : catalogue.runs) {
    if (!run.settings.contains("bits") && !run.name.starts_with("deep-")) continue;
    for (const char* method : {"sah", "rba", "ba", "itq", "kmh", "sph", "sash", "sdh", "ksh", "bre",
                               "cca-itq", "deepbit", "graphbit", "dqn", "dhn", "dsdh", "others"}) {
      for (const int bits : {8, 16}) {
        for (uint64_t seed = 1; seed <= 2; ++seed) {
          figures[run.name][{method, bits, seed}].metrics = {
              {"mAP", 1},        {"training_seconds", 1}, {"relative_reconstruction_error", 1},
              {"extract_ms", 1}, {"pool_ms", 1},          {"encode_ms", 1}};
        }
      }
    }
  }
  for (const ClaimSpec& claim : catalogue.claims) {
    EXPECT_NO_THROW(catalogue.entry(claim.entry)) << claim.name;
    EXPECT_NE(Judge(claim, figures).verdict, Verdict::kNotRun) << claim.name;
    EXPECT_EQ(Judge(claim, {}).verdict, Verdict::kNotRun) << claim.name;
    EXPECT_FALSE(claim.rule.empty()) << claim.name;
  }
}

}  // namespace
}  // namespace bitpool
