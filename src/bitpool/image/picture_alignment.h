#pragma once

#include <Eigen/Core>

#include "bitpool/image/grey_image.h"

// What this room shares: laying one picture over another. Not for users.
namespace bitpool {

// Where a point of one picture is in another: p ↦ M·(x, y, 1).
using AffineMap = Eigen::Matrix<double, 2, 3>;

AffineMap Inverse(const AffineMap& map);
// How many pixels of the other picture a pixel is wide, on average over all directions.
double ScaleOf(const AffineMap& map);

// Moves the map a little so that the pictures agree better, whatever their brightness and contrast,
// by a few Gauss–Newton steps in which pixels that do not fit (text, a border) count little.
AffineMap RefineMap(const GreyImage& image, const GreyImage& other, AffineMap map, int steps);

// How well two pictures agree where one lies over the other.
struct Agreement {
  int blocks = 0;       // squares of the overlap in which there is something to see
  double agreeing = 0;  // the share of them that look the same in both
  double covered = 0;   // the share of the image that lies in the other
};
Agreement MeasureAgreement(const GreyImage& image, const GreyImage& other, const AffineMap& map);

// Of the squares that look the same in both pictures, maybe a pixel or two away, the share that
// fits better there than where the map says: next to none in copies of a picture; many in another
// photograph of the scene, where what is near and what is far moved by different amounts.
double MeasureMoved(const GreyImage& image, const GreyImage& other, const AffineMap& map);

// The correlation of all pixels that lie in both pictures; 0 where there is nothing to see.
double MeasureCorrelation(const GreyImage& image, const GreyImage& other, const AffineMap& map);

}  // namespace bitpool
