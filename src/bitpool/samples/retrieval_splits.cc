#include "bitpool/samples/retrieval_splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"

namespace bitpool {
namespace {

// Streams of the seed, so that one choice does not depend on another.
constexpr uint64_t kQueryStream = 1;
constexpr uint64_t kTrainingStream = 2;
constexpr uint64_t kClassStream = 3;

// The images of each class, out of `images`.
std::vector<std::vector<Index>> MembersOf(const Labels& labels, const std::vector<Index>& images) {
  std::vector<std::vector<Index>> members(static_cast<size_t>(labels.class_count()));
  for (const Index image : images) {
    for (const int32_t c : labels.of(image)) members[static_cast<size_t>(c)].push_back(image);
  }
  return members;
}

std::vector<Index> AllImages(const Labels& labels) {
  std::vector<Index> images(static_cast<size_t>(labels.size()));
  std::iota(images.begin(), images.end(), Index{0});
  return images;
}

enum class IfFewer { kRefuse, kTakeAll };

// `per_class` of every class that occurs in `images`; an image is drawn for one class only.
std::set<Index> Draw(const Labels& labels, const std::vector<Index>& images, Index per_class,
                     IfFewer if_fewer, const Random& random) {
  std::set<Index> drawn;
  const auto members = MembersOf(labels, images);
  for (size_t c = 0; c < members.size(); ++c) {
    std::vector<Index> left;
    std::ranges::copy_if(members[c], std::back_inserter(left),
                         [&](Index image) { return !drawn.contains(image); });
    if (members[c].empty()) continue;  // a number that no image has
    const auto count = static_cast<size_t>(per_class);
    if (left.size() < count && if_fewer == IfFewer::kRefuse) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("split: class {} has {} images to draw from, expected at least {}", c,
                              left.size(), per_class));
    }
    for (const uint64_t i : random.Fork(c).Sample(left.size(), std::min(count, left.size()))) {
      drawn.insert(left[i]);
    }
  }
  return drawn;
}

std::vector<Index> Without(const std::vector<Index>& images, const std::set<Index>& removed) {
  std::vector<Index> kept;
  std::ranges::copy_if(images, std::back_inserter(kept),
                       [&](Index image) { return !removed.contains(image); });
  return kept;
}

std::vector<int32_t> OccurringClasses(const Labels& labels) {
  std::set<int32_t> classes;
  for (Index image = 0; image < labels.size(); ++image) {
    const auto of = labels.of(image);
    classes.insert(of.begin(), of.end());
  }
  return {classes.begin(), classes.end()};
}

// Divides the classes into those to learn from and those to search for.
void DivideClasses(const std::vector<int32_t>& classes, double seen_share, uint64_t seed,
                   RetrievalSplit& split) {
  if (classes.size() < 3) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("unseen classes: expected at least 3 classes, got {}", classes.size()));
  }
  const auto wanted =
      static_cast<size_t>(std::llround(seen_share * static_cast<double>(classes.size())));
  const size_t count = std::clamp<size_t>(wanted, 2, classes.size() - 1);
  std::set<uint64_t> seen;
  for (const uint64_t i : Random(seed).Fork(kClassStream).Sample(classes.size(), count)) {
    seen.insert(i);
  }
  for (size_t i = 0; i < classes.size(); ++i) {
    (seen.contains(i) ? split.seen_classes : split.asked_classes).push_back(classes[i]);
  }
}

// Whether the image has one of these classes, which are ascending.
bool HasAny(const Labels& labels, Index image, const std::vector<int32_t>& classes) {
  return ShareClass(labels.of(image), classes);
}

void RequireSingle(const Labels& labels) {
  if (labels.single()) return;
  throw Error(ErrorCode::kInvalidArgument,
              "unseen classes of a training and a test part: expected one class per image");
}

}  // namespace

void SplitOptions::Validate() const {
  if (queries_per_class < 1 || training_per_class < 0 || !(seen_share > 0 && seen_share < 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                "split: expected at least one query per class, 0 or more training images per class "
                "and a share of seen classes between 0 and 1");
  }
}

RetrievalSplit SplitTraditional(const Labels& labels, const SplitOptions& options, uint64_t seed) {
  options.Validate();
  const Random random(seed);
  const std::vector<Index> all = AllImages(labels);
  const std::set<Index> queries =
      Draw(labels, all, options.queries_per_class, IfFewer::kRefuse, random.Fork(kQueryStream));
  RetrievalSplit split;
  split.queries = {queries.begin(), queries.end()};
  split.database = Without(all, queries);
  split.training = split.database;
  if (options.training_per_class > 0) {
    const std::set<Index> training = Draw(labels, split.database, options.training_per_class,
                                          IfFewer::kRefuse, random.Fork(kTrainingStream));
    split.training = {training.begin(), training.end()};
  }
  split.seen_classes = split.asked_classes = OccurringClasses(labels);
  return split;
}

RetrievalSplit SplitUnseen(const Labels& train, const Labels& test, const SplitOptions& options,
                           uint64_t seed) {
  options.Validate();
  RequireSingle(train);
  RequireSingle(test);
  RetrievalSplit split;
  DivideClasses(OccurringClasses(train), options.seen_share, seed, split);
  for (Index image = 0; image < train.size(); ++image) {
    const bool seen = HasAny(train, image, split.seen_classes);
    (seen ? split.training : split.database).push_back(image);
  }
  for (Index image = 0; image < test.size(); ++image) {
    if (HasAny(test, image, split.asked_classes)) split.queries.push_back(train.size() + image);
  }
  return split;
}

RetrievalSplit SplitUnseenSampled(const Labels& labels, const SplitOptions& options,
                                  uint64_t seed) {
  SplitOptions whole = options;
  whole.training_per_class = 0;
  const RetrievalSplit traditional = SplitTraditional(labels, whole, seed);
  RetrievalSplit split;
  DivideClasses(OccurringClasses(labels), options.seen_share, seed, split);
  const auto only_asked = [&](Index image) {
    return HasAny(labels, image, split.asked_classes) && !HasAny(labels, image, split.seen_classes);
  };
  const auto only_seen = [&](Index image) {
    return HasAny(labels, image, split.seen_classes) && !HasAny(labels, image, split.asked_classes);
  };
  std::ranges::copy_if(traditional.queries, std::back_inserter(split.queries), only_asked);
  std::ranges::copy_if(traditional.database, std::back_inserter(split.database), only_asked);
  std::ranges::copy_if(traditional.database, std::back_inserter(split.training), only_seen);
  if (options.training_per_class > 0) {
    const std::set<Index> drawn = Draw(labels, split.training, options.training_per_class,
                                       IfFewer::kTakeAll, Random(seed).Fork(kTrainingStream));
    split.training = {drawn.begin(), drawn.end()};
  }
  return split;
}

Labels KeepFrequentClasses(const Labels& labels, Index count) {
  std::vector<Index> sizes(static_cast<size_t>(labels.class_count()));
  for (Index image = 0; image < labels.size(); ++image) {
    for (const int32_t c : labels.of(image)) ++sizes[static_cast<size_t>(c)];
  }
  std::vector<int32_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](int32_t c) { return sizes[static_cast<size_t>(c)]; });
  const auto occurring =
      static_cast<Index>(std::ranges::count_if(sizes, [](Index size) { return size > 0; }));
  if (count < 1 || count > occurring) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("cannot keep {} classes: {} occur", count, occurring));
  }
  std::vector<int32_t> number(sizes.size(), -1);
  for (int32_t rank = 0; rank < static_cast<int32_t>(count); ++rank) {
    number[static_cast<size_t>(order[static_cast<size_t>(rank)])] = rank;
  }
  std::vector<std::vector<int32_t>> kept(static_cast<size_t>(labels.size()));
  for (Index image = 0; image < labels.size(); ++image) {
    for (const int32_t c : labels.of(image)) {
      const int32_t now = number[static_cast<size_t>(c)];
      if (now >= 0) kept[static_cast<size_t>(image)].push_back(now);
    }
  }
  return Labels::Multi(kept);
}

}  // namespace bitpool
