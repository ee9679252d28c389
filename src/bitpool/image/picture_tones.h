#pragma once

#include <array>

#include "bitpool/base/random.h"
#include "bitpool/image/picture.h"

// Changes of the values of pixels that leave the geometry alone. The same on every machine.
// Pictures must be valid (RequirePicture).
namespace bitpool {

// Values move away from the mean of the picture by `contrast` and are then multiplied.
struct Light {
  double contrast = 1;
  double brightness = 1;
  std::array<double, 3> channels = {1, 1, 1};  // red, green, blue
};
void ChangeLight(Picture& picture, const Light& light);

// By luminance.
void MakeGrey(Picture& picture);

// The means of squares of 2 × radius + 1 pixels, twice: close to a Gaussian. Nothing changes for
// radius 0.
void Blur(Picture& picture, Index radius);

// Adds `amount` times the difference to the blurred picture.
void Sharpen(Picture& picture, double amount);

// Adds to every value a random number with about this deviation.
void AddNoise(Picture& picture, double deviation, Random& random);

}  // namespace bitpool
