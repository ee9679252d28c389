#include "bitpool/image/picture_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/picture_text.h"
#include "bitpool/image/picture_tones.h"
#include "bitpool/image/picture_warp.h"
#include "bitpool/image/thumbnail.h"

// Random numbers become sizes and turns by rational functions only, since exponentials and sines
// differ in their last digits from machine to machine.

namespace bitpool {
namespace {

// FNV-1a of the pixels.
uint64_t DigestOf(const Picture& picture) {
  uint64_t digest = 0xcbf29ce484222325;
  for (const uint8_t value : picture.pixels) digest = (digest ^ value) * 0x100000001b3;
  return digest;
}

double Between(double least, double most, Random& random) {
  return least + (most - least) * random.Uniform();
}

bool Chance(double probability, Random& random) { return random.Uniform() < probability; }

// A factor between 1/most and most, as likely to enlarge as to shrink.
double Factor(double most, Random& random) {
  const double limit = (most - 1) / (most + 1);
  const double u = Between(-limit, limit, random);
  return (1 + u) / (1 - u);
}

// What is cut out of a picture, and how.
struct Cut {
  double area = 1;       // as a share of the picture's
  double aspect = 1;     // width against height, relative to the picture's own
  double half_turn = 0;  // the tangent of half the angle, clockwise
  double shift = 0;      // how far each corner moves at most, as a share of the cut's sides
  bool mirrored = false;
};

// The turned rectangle's own axes.
struct Turn {
  double cosine, sine;

  explicit Turn(double half)
      : cosine((1 - half * half) / (1 + half * half)), sine(2 * half / (1 + half * half)) {}
  Point operator()(double x, double y) const {
    return {cosine * x - sine * y, sine * x + cosine * y};
  }
};

// Cuts a random place out. The whole cut lies within the picture, and is made smaller for that if
// need be, so that it never shows a border that is not there.
Picture CutOut(const Picture& picture, const Cut& cut, Random& random) {
  const auto width = static_cast<double>(picture.width),
             height = static_cast<double>(picture.height);
  const double stretch = std::sqrt(cut.aspect), side = std::sqrt(cut.area);
  double w = width * side * stretch, h = height * side / stretch;
  const Turn turn(cut.half_turn);
  const double wide = w * turn.cosine + h * std::abs(turn.sine);
  const double high = h * turn.cosine + w * std::abs(turn.sine);
  const double fit = std::min({1.0, width / wide, height / high});
  w *= fit;
  h *= fit;
  const double x = Between(wide * fit / 2, width - wide * fit / 2, random);
  const double y = Between(high * fit / 2, height - high * fit / 2, random);
  Corners corners;
  for (size_t i = 0; i < corners.size(); ++i) {
    const bool right = i == 1 || i == 2, low = i >= 2;
    // Inwards only: corners that moved out might leave the picture.
    const double dx = cut.shift * random.Uniform(), dy = cut.shift * random.Uniform();
    const Point corner = turn((right ? 0.5 - dx : dx - 0.5) * w, (low ? 0.5 - dy : dy - 0.5) * h);
    corners[i] = {x + corner.x, y + corner.y};
  }
  if (cut.mirrored) corners = {corners[1], corners[0], corners[3], corners[2]};
  return Warp(picture, corners, std::max<Index>(1, std::lround(w)),
              std::max<Index>(1, std::lround(h)));
}

Light RandomLight(double contrast, double brightness, double colour, Random& random) {
  Light light{.contrast = Between(1 - contrast, 1 + contrast, random),
              .brightness = Between(1 - brightness, 1 + brightness, random)};
  for (double& channel : light.channels) channel = Between(1 - colour, 1 + colour, random);
  return light;
}

constexpr double kTurnBy12Degrees = 0.1051;  // the tangent of half of it
constexpr double kTurnBy10Degrees = 0.0875;

Picture SceneView(const Picture& picture, Random& random) {
  Cut cut{.area = Between(0.35, 1, random), .aspect = Factor(1.28, random)};
  if (Chance(0.5, random)) {
    cut.half_turn = Between(-kTurnBy12Degrees, kTurnBy12Degrees, random);
  }
  if (Chance(0.5, random)) cut.shift = 0.08;
  Picture view = CutOut(picture, cut, random);
  ChangeLight(view, RandomLight(0.3, 0.4, 0.1, random));
  return view;
}

Picture ClassView(const Picture& picture, Random& random) {
  Picture view = CutOut(picture,
                        {.area = Between(0.4, 1, random),
                         .aspect = Factor(1.33, random),
                         .mirrored = Chance(0.5, random)},
                        random);
  ChangeLight(view, RandomLight(0.4, 0.4, 0.2, random));
  if (Chance(0.2, random)) MakeGrey(view);
  return view;
}

// Copies: what people and programs do to pictures. A view has some of these, in this order.

Picture Turned(const Picture& picture, Random& random) {
  const double half = Between(-kTurnBy10Degrees, kTurnBy10Degrees, random);
  if (Chance(0.5, random)) return CutOut(picture, {.half_turn = half}, random);
  // The size stays, and the corners are black.
  const auto w = static_cast<double>(picture.width), h = static_cast<double>(picture.height);
  const Turn turn(half);
  Corners corners = {turn(-w / 2, -h / 2), turn(w / 2, -h / 2), turn(w / 2, h / 2),
                     turn(-w / 2, h / 2)};
  for (Point& corner : corners) corner = {corner.x + w / 2, corner.y + h / 2};
  return Warp(picture, corners, picture.width, picture.height);
}

Picture Resized(const Picture& picture, double across, double down) {
  const auto w = static_cast<double>(picture.width), h = static_cast<double>(picture.height);
  return Warp(picture, {{{0, 0}, {w, 0}, {w, h}, {0, h}}},
              std::max<Index>(1, std::lround(w * across)),
              std::max<Index>(1, std::lround(h * down)));
}

// Pressed into another shape, a square at the most.
Picture Squeezed(const Picture& picture, Random& random) {
  const double shape = static_cast<double>(picture.width) / static_cast<double>(picture.height);
  if (shape == 1) return Resized(picture, Between(0.7, 1, random), 1);
  const double to_square = shape > 1 ? 1 / shape : shape;
  const double factor = Chance(0.3, random) ? to_square : Between(to_square, 1, random);
  return shape > 1 ? Resized(picture, factor, 1) : Resized(picture, 1, factor);
}

// Scaled down, to 128 pixels at the least.
Picture Shrunk(const Picture& picture, Random& random) {
  const auto side = static_cast<double>(std::max(picture.width, picture.height));
  constexpr double kLeast = 128;
  if (side <= kLeast) return picture;
  // The smaller, the likelier: the small ones are those that have lost something.
  const double u = random.Uniform();
  const double factor = (kLeast + (side - kLeast) * u * u) / side;
  return Resized(picture, factor, factor);
}

Picture Bordered(const Picture& picture, Random& random) {
  const auto w = static_cast<double>(picture.width), h = static_cast<double>(picture.height);
  const double x = Between(0.02, 0.12, random) * w;
  const double y = Chance(0.5, random) ? 0 : Between(0.02, 0.12, random) * h;
  return Warp(picture, {{{-x, -y}, {w + x, -y}, {w + x, h + y}, {-x, h + y}}},
              static_cast<Index>(w + 2 * x), static_cast<Index>(h + 2 * y));
}

void WriteOn(Picture& picture, Random& random) {
  TextPlacement text{.width = Between(0.3, 0.9, random)};
  text.middle = {Between(0.3, 0.7, random), Between(0.1, 0.9, random)};
  const auto grey = static_cast<uint8_t>(random.Below(256));
  const auto shade = [&] { return Chance(0.5, random) ? grey : static_cast<uint8_t>(255 - grey); };
  for (uint8_t& channel : text.colour) channel = shade();
  DrawSample(picture, text);
}

void Smear(Picture& picture, Random& random) {
  switch (random.Below(3)) {
    case 0:
      return Blur(picture, static_cast<Index>(1 + random.Below(3)));
    case 1:
      return Sharpen(picture, Between(0.5, 3, random));
    default:
      return AddNoise(picture, Between(3, 25, random), random);
  }
}

Picture CopyView(const Picture& picture, Random& random) {
  constexpr double kOften = 0.35, kSeldom = 0.2;
  // Cuts and turns are what codes find hardest to ignore.
  constexpr double kMostly = 0.5;
  Picture view = picture;
  if (Chance(kMostly, random)) {
    view = CutOut(view, {.area = Between(0.4, 1, random), .aspect = Factor(1.2, random)}, random);
  }
  if (Chance(kOften, random)) view = Turned(view, random);
  if (Chance(kSeldom, random)) view = Squeezed(view, random);
  if (Chance(kOften, random)) ChangeLight(view, RandomLight(0.4, 0.4, 0.15, random));
  if (Chance(kSeldom / 2, random)) MakeGrey(view);
  if (Chance(kSeldom, random)) WriteOn(view, random);
  if (Chance(kSeldom, random)) view = Bordered(view, random);
  if (Chance(kOften, random)) view = Shrunk(view, random);
  if (Chance(kOften, random)) Smear(view, random);
  if (Chance(kOften, random)) {
    const int quality = static_cast<int>(10 + random.Below(81));
    view = DecodePicture(EncodeJpeg(view, quality), {});
  }
  return view;
}

}  // namespace

const char* NameOf(ViewKind kind) {
  switch (kind) {
    case ViewKind::kCopies:
      return "copies";
    case ViewKind::kScenes:
      return "scenes";
    case ViewKind::kClasses:
      return "classes";
  }
  return "?";
}

ViewKind FindViewKind(std::string_view name) {
  for (const ViewKind kind : kViewKinds) {
    if (name == NameOf(kind)) return kind;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("kind of views: expected copies, scenes or classes, got \"{}\"", name));
}

Picture MakeView(const Picture& picture, ViewKind kind, Random& random) {
  RequirePicture(picture);
  switch (kind) {
    case ViewKind::kCopies:
      return CopyView(picture, random);
    case ViewKind::kScenes:
      return SceneView(picture, random);
    case ViewKind::kClasses:
      return ClassView(picture, random);
  }
  throw Error(ErrorCode::kInternal, "an unknown kind of views");
}

void ViewPlan::Validate() const {
  if (count < 0 || count > kMostViews) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("views: expected 0 to {}, got {}", kMostViews, count));
  }
}

std::vector<Picture> MakeViews(const Picture& picture, const ViewPlan& plan) {
  plan.Validate();
  if (plan.count == 0) return {};
  const Random random = Random(plan.seed).Fork(DigestOf(picture));
  std::vector<Picture> views;
  for (Index i = 0; i < plan.count; ++i) {
    Random own = random.Fork(static_cast<uint64_t>(i));
    views.push_back(MakeView(picture, plan.kind, own));
  }
  return views;
}

}  // namespace bitpool
