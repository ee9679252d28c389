#include "view_choice.h"

#include "number_checks.h"

namespace bitpool::app {

void ViewChoice::AddTo(CLI::App* app) {
  app->add_option(
         "--views", count,
         "With every picture this many random views of it, to learn what codes should ignore")
      ->check(CLI::Range(Index{0}, kMostViews))
      ->capture_default_str();
  app->add_option(
         "--view-kind", kind,
         "What is looked for: copies of a picture, other pictures of its scene (scenes) or "
         "of such a thing (classes)")
      ->check(CLI::IsMember({"copies", "scenes", "classes"}))
      ->capture_default_str();
}

void ViewChoice::AddLimitTo(CLI::App* app) {
  app->add_option("--view-pictures", pictures, "Views of this many training pictures, the first")
      ->check(WholeFrom(1))
      ->capture_default_str();
}

void ViewChoice::Request(uint64_t seed, CnnFeaturesRequest& request) const {
  request.views = Plan(seed);
  request.with_views = pictures;
}

ViewPlan ViewChoice::Plan(uint64_t seed) const {
  return {.count = count, .kind = FindViewKind(kind), .seed = seed};
}

}  // namespace bitpool::app
