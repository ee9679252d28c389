#pragma once

#include <cstdint>
#include <string>

#include "bitpool/pictures/extract_pictures.h"
#include "session.h"

namespace bitpool::app {

// The options by which a user asks for views of pictures.
struct ViewChoice {
  Index count = 0;
  std::string kind = NameOf(ViewPlan().kind);

  // Adds --views and --view-kind.
  void AddTo(CLI::App* app);

  ViewPlan Plan(uint64_t seed) const;
};

}  // namespace bitpool::app
