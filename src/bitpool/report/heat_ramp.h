#pragma once

#include <string>

namespace bitpool {

enum class Theme { kLight, kDark };

// A cell's colours, as "#rrggbb".
struct RampColour {
  std::string fill;
  std::string ink;  // black or white, whichever reads better on the fill
};

// From the colour nearest to the page (0) to the one farthest from it (1). Lightness is linear in
// OKLab, so equal steps look equal, even without colour vision.
RampColour RampAt(double share, Theme theme);

}  // namespace bitpool
