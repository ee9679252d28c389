#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/ground_truth.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// The pictures all of whose images have descriptors: the others could not be compared.
std::vector<Index> WholePictures(const FeatureSet& features, const std::vector<Index>& pictures);

// What held-out pictures are to be found with.
struct HeldOut {
  const FeatureSet& images;            // with those that are learned from
  const std::vector<Index>& pictures;  // that are held out, by their numbers among the pictures
  bool normalise = true;
  const Labels* labels = nullptr;  // of all pictures; null: without
  bool look_for_classes = false;   // without labels: see TuneOptions
};

// How `tune` judges a model: what held-out images search with, what is searched, and the right
// answers.
// - With labels, an image searches for those of its class.
// - Where pictures have views, up to two of them search for a third one, or for the picture itself
//   where there is only one view.
// - When classes are searched for, the answers are also the pictures most like it: one in 20, those
//   that share most of its nearest ones by the cosine of whitened vectors, the means of all images
//   of a picture. To find one picture among all others, codes have to tell pictures of one class
//   apart, which favours constants that are bad at finding the class. What is most like a picture
//   is the same for every model.
// - Otherwise the first half of an image's descriptors searches for the second half.
class TuneCriterion {
 public:
  // Throws kInvalidArgument when there is nothing to search for.
  TuneCriterion(const HeldOut& held_out, const RunContext& context);

  // mAP in percent.
  double Score(const HashModel& model, const RunContext& context) const;

  // In words.
  std::string Describe(bool unseen_classes) const;

 private:
  void AskForClasses(const HeldOut& held_out, const std::vector<Index>& pictures,
                     const RunContext& context);
  void AskForViews(const HeldOut& held_out, const std::vector<Index>& pictures,
                   const RunContext& context);
  void AskForHalves(const HeldOut& held_out, const std::vector<Index>& pictures,
                    const RunContext& context);
  void Take(FeatureSubset queries, FeatureSubset database, bool normalise,
            const RunContext& context);
  // Every image of the database, and those it is given with, is what this many queries in a row
  // look for.
  void Expect(const std::vector<std::vector<Index>>& answers, Index queries);

  std::optional<FeatureSubset> query_images_, database_images_;
  MemoryRecords queries_, database_;  // theirs
  std::unique_ptr<GroundTruth> truth_;
  std::string description_;
};

}  // namespace bitpool
