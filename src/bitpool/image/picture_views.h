#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/image/picture.h"

namespace bitpool {

// Views of a picture: what it could also have looked like. They tell, without any label, which
// differences between pictures a code should ignore, and that depends on what one searches for.
enum class ViewKind {
  kCopies,   // what becomes of a picture that is passed on: scaled, saved again, cut, written on
  kScenes,   // other photographs of the same scene: cut out, turned, in another light
  kClasses,  // other pictures of such a thing: strongly cut, mirrored, in other colours or none
};

inline constexpr std::array kViewKinds = {ViewKind::kCopies, ViewKind::kScenes, ViewKind::kClasses};

// "copies", "scenes", "classes".
const char* NameOf(ViewKind kind);
// Throws kInvalidArgument, naming those that are known.
ViewKind FindViewKind(std::string_view name);

// To be increased with every change that gives other views for the same picture and seed.
inline constexpr int kViewsVersion = 2;

// A random view; the same one for the same state of `random`, on every machine. Throws
// kInvalidArgument when the pixels do not match the sizes.
Picture MakeView(const Picture& picture, ViewKind kind, Random& random);

// Which views are made of every picture.
struct ViewPlan {
  Index count = 0;  // 0: none
  ViewKind kind = ViewKind::kScenes;
  uint64_t seed = 0;

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

inline constexpr Index kMostViews = 64;

// The views of a picture by a plan. They depend on the plan and the pixels, and not on the place of
// the picture among others.
std::vector<Picture> MakeViews(const Picture& picture, const ViewPlan& plan);

}  // namespace bitpool
