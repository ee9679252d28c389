#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bitpool/image/picture_views.h"
#include "bitpool/reproduction/catalogue.h"

// How the runs of the catalogue are made: what they share, and a file for each section's.
namespace bitpool {

struct ReproductionPlan {
  ReproductionData data;
  ReproductionSizes sizes;
  uint64_t seed = 0;
  std::string network;                         // digests of the network's files,
  std::string holidays, train, oxford, paris;  // of the folders of pictures
  std::string nus_wide_labels;                 // and of the labels; empty: not here

  // All that decides a run's figures: its own settings and those of every run.
  nlohmann::json Settings(const nlohmann::json& own) const;
  double Minutes(double quick, double full) const { return sizes.quick ? quick : full; }
  // What the network is fed with, for pictures of other sizes and another of its layers.
  CnnOptions ScenesAt(int size) const;
  CnnOptions ClassesAt(int size) const;
  CnnOptions GlobalAt(int size) const;
  // Those that `data extract` and the experiments make with this seed, so that all can share them.
  ViewPlan Views(ViewKind kind) const { return {.count = sizes.views, .kind = kind, .seed = seed}; }
};

// Pixels a network sees for a global vector or a small picture, as it was trained.
inline constexpr int kGlobalSize = 224;

std::vector<RunSpec> VectorRuns(const ReproductionPlan& plan);   // section III
std::vector<RunSpec> PictureRuns(const ReproductionPlan& plan);  // section V
// Of sets with classes: the paper's CIFAR-10 tables of section V, and section VII.
std::vector<RunSpec> ClassRuns(const ReproductionPlan& plan);
// What research/deep measured on a GPU: read from its results, not run.
std::vector<RunSpec> DeepRuns();

}  // namespace bitpool
