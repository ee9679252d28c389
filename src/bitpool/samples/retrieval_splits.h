#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// Which images of a labelled set are learned from, searched, or used as queries (section VII-A of
// the paper). Images are ascending; the same seed gives the same split.
struct RetrievalSplit {
  std::vector<Index> training;
  std::vector<Index> database;
  std::vector<Index> queries;          // never part of the two above
  std::vector<int32_t> seen_classes;   // those that training images have
  std::vector<int32_t> asked_classes;  // those that queries and database have
};

struct SplitOptions {
  Index queries_per_class = 100;
  Index training_per_class = 500;  // 0: the whole database
  double seen_share = 0.7;         // of the classes, where some are unseen

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// The traditional setting: queries are drawn from every class, the rest is the database, and some
// of the database are the training images. An image with several classes is drawn for one of them;
// one without a class is only part of the database. Throws kInvalidArgument, naming the class, when
// it has too few images.
RetrievalSplit SplitTraditional(const Labels& labels, const SplitOptions& options, uint64_t seed);

// The setting of unseen classes, for a set with one class per image that has a training and a test
// part: some of the classes are seen, and the training images are those of the training part that
// have them; images of the other classes are the database (training part) and the queries (test
// part). Test images are counted after the training images. Throws kInvalidArgument for fewer than
// three classes: two to learn from, one to search for.
RetrievalSplit SplitUnseen(const Labels& train, const Labels& test, const SplitOptions& options,
                           uint64_t seed);

// The same for a set without such parts, whose images may have several classes (NUS-WIDE): out of
// the traditional split, queries and database lose all images that have a seen class, and the
// training images are drawn from those of the database that have no unseen class, fewer than
// training_per_class where a class has fewer. (The paper does not say that images with classes of
// both kinds are left out of the training; they would show it what is to be unseen.)
RetrievalSplit SplitUnseenSampled(const Labels& labels, const SplitOptions& options, uint64_t seed);

// Only the `count` most frequent classes, renumbered from 0 in the order of their frequency; of
// equally frequent ones the lower number comes first. NUS-WIDE is used with its 21 most frequent.
// Throws kInvalidArgument when fewer classes occur.
Labels KeepFrequentClasses(const Labels& labels, Index count);

}  // namespace bitpool
