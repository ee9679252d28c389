#pragma once

#include <cstdint>
#include <string>

#include "bitpool/experiments/cnn_features.h"
#include "bitpool/pictures/extract_pictures.h"
#include "session.h"

namespace bitpool::app {

// The options by which a user asks for views of pictures.
struct ViewChoice {
  Index count = 0;
  Index pictures = CnnFeaturesRequest().with_views;
  std::string kind = NameOf(ViewPlan().kind);

  // Adds --views and --view-kind.
  void AddTo(CLI::App* app);

  // Adds --view-pictures, for public sets.
  void AddLimitTo(CLI::App* app);

  ViewPlan Plan(uint64_t seed) const;
  // The same for the features of a public set.
  void Request(uint64_t seed, CnnFeaturesRequest& request) const;
};

}  // namespace bitpool::app
