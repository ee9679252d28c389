#include "bitpool/training/tune_criterion.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/view_columns.h"
#include "bitpool/hash/view_whitening.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/training/pooled_vectors.h"

namespace bitpool {
namespace {

// Windows that share no descriptor: those that do reward codes which remember single descriptors.
constexpr double kHalf = 0.5;

// A picture has one neighbour for this many pictures that are held out.
constexpr Index kPicturesPerNeighbour = 20;
// μ of the vectors that neighbours are found by: the same for all candidates.
constexpr double kNeighbourMu = 10;

// Vectors of unit length by which pictures are compared, one for each of these.
MatrixF VectorsOfPictures(const HeldOut& held_out, const std::vector<Index>& pictures,
                          const RunContext& context) {
  const FeatureSubset images = FeatureSubset::OfPictures(held_out.images, pictures);
  PooledVectors pooled = PooledVectors::OfImages(images, held_out.normalise);
  const MatrixColumns vectors(pooled.With(kNeighbourMu, context));
  const ViewVectors views{.vectors = vectors, .per_picture = images.images_per_picture()};
  const PictureMeans means(views);
  const MappedColumns whitened(means, LearnWhitening({}, views, context).forward);
  MatrixF all;
  return whitened.Read(0, whitened.size(), all).colwise().normalized();
}

// For every picture, this many that are most like it, itself among them; of equals the first. A
// column of `likeness` is that of one picture to all.
std::vector<std::vector<Index>> MostAlike(const MatrixF& likeness, Index wanted) {
  std::vector<std::vector<Index>> alike;
  std::vector<Index> order(static_cast<size_t>(likeness.rows()));
  for (Index picture = 0; picture < likeness.cols(); ++picture) {
    std::iota(order.begin(), order.end(), Index{0});
    std::partial_sort(order.begin(), order.begin() + wanted, order.end(), [&](Index a, Index b) {
      return std::pair(-likeness(a, picture), a) < std::pair(-likeness(b, picture), b);
    });
    alike.emplace_back(order.begin(), order.begin() + wanted);
  }
  return alike;
}

// For every picture, itself and those that share most of its neighbours.
std::vector<std::vector<Index>> FindLikePictures(const MatrixF& vectors) {
  const Index count = vectors.cols();
  const Index wanted = std::min(count, 1 + std::max<Index>(1, count / kPicturesPerNeighbour));
  const MatrixF cosines = vectors.transpose() * vectors;
  MatrixF chosen = MatrixF::Zero(count, count);
  const std::vector<std::vector<Index>> nearest = MostAlike(cosines, wanted);
  for (Index picture = 0; picture < count; ++picture) {
    for (const Index other : nearest[static_cast<size_t>(picture)]) chosen(other, picture) = 1;
  }
  // Where equally many are shared the cosine decides, which is too small for anything else.
  return MostAlike(chosen.transpose() * chosen + 0.4F * cosines, wanted);
}

std::vector<std::vector<Index>> Themselves(Index count) {
  std::vector<std::vector<Index>> answers;
  for (Index image = 0; image < count; ++image) answers.push_back({image});
  return answers;
}

BinaryCodes Encode(const HashModel& model, const RecordStore& records, const FeatureSet& images,
                   const RunContext& context) {
  const MatrixF vectors = VectorsFor(model, records, &images, context);
  return EncodeAll(*model.encoder, MatrixColumns(vectors), context);
}

}  // namespace

std::vector<Index> WholePictures(const FeatureSet& features, const std::vector<Index>& pictures) {
  const Index each = features.images_per_picture();
  std::vector<Index> whole;
  for (const Index picture : pictures) {
    bool all = true;
    for (Index i = 0; i < each; ++i) all &= features.descriptor_count(picture * each + i) > 0;
    if (all) whole.push_back(picture);
  }
  return whole;
}

TuneCriterion::TuneCriterion(const HeldOut& held_out, const RunContext& context)
    : queries_(held_out.images.dimension()), database_(held_out.images.dimension()) {
  const FeatureSet& images = held_out.images;
  const std::vector<Index> pictures = WholePictures(images, held_out.pictures);
  if (held_out.labels != nullptr) {
    AskForClasses(held_out, pictures, context);
  } else if (images.images_per_picture() > 1) {
    AskForViews(held_out, pictures, context);
  } else {
    AskForHalves(held_out, pictures, context);
  }
  if (queries_.size() > 0 && database_.size() > 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              "none of the held-out images can be looked for: expected labels, views, or two local "
              "features and more of an image");
}

double TuneCriterion::Score(const HashModel& model, const RunContext& context) const {
  const double mean_ap = EvaluateCodes(Encode(model, database_, *database_images_, context),
                                       Encode(model, queries_, *query_images_, context), *truth_,
                                       HashingProtocol(), context)
                             .mean_ap;
  if (std::isnan(mean_ap)) {
    throw Error(ErrorCode::kInvalidArgument,
                "no two of the held-out images share a class, so nothing can be judged by them: "
                "expected more images of each class");
  }
  return 100 * mean_ap;
}

std::string TuneCriterion::Describe(bool unseen_classes) const {
  return unseen_classes ? "mAP of finding images of the same class, of classes held out"
                        : description_;
}

void TuneCriterion::AskForClasses(const HeldOut& held_out, const std::vector<Index>& pictures,
                                  const RunContext& context) {
  std::vector<Index> asking, asked;
  for (size_t i = 0; i < pictures.size(); ++i) {
    (i % 3 == 0 ? asking : asked).push_back(pictures[i]);
  }
  const auto originals = [&](std::vector<Index> of) {
    for (Index& picture : of) picture *= held_out.images.images_per_picture();
    return FeatureSubset(held_out.images, std::move(of));
  };
  Take(originals(asking), originals(asked), held_out.normalise, context);
  truth_ =
      std::make_unique<LabelTruth>(held_out.labels->Select(asking), held_out.labels->Select(asked));
  description_ = "mAP of finding held-out images of the same class";
}

void TuneCriterion::AskForViews(const HeldOut& held_out, const std::vector<Index>& pictures,
                                const RunContext& context) {
  const Index each = held_out.images.images_per_picture();
  const Index asking = std::min<Index>(2, std::max<Index>(1, each - 2));
  std::vector<Index> queries, asked;
  for (const Index picture : pictures) {
    for (Index i = 0; i < asking; ++i) queries.push_back(picture * each + 1 + i);
    asked.push_back(each == 2 ? picture * each : picture * each + each - 1);
  }
  Take(FeatureSubset(held_out.images, queries), FeatureSubset(held_out.images, asked),
       held_out.normalise, context);
  if (held_out.look_for_classes) {
    Expect(FindLikePictures(VectorsOfPictures(held_out, pictures, context)), asking);
    description_ = "mAP of finding views of a held-out picture and of those most like it";
  } else {
    Expect(Themselves(database_.size()), asking);
    description_ = "mAP of finding a view of a held-out picture by another one";
  }
}

void TuneCriterion::AskForHalves(const HeldOut& held_out, const std::vector<Index>& pictures,
                                 const RunContext& context) {
  std::vector<Index> usable;
  for (const Index picture : pictures) {
    if (held_out.images.descriptor_count(picture) > 1) usable.push_back(picture);
  }
  Take(FeatureSubset(held_out.images, usable, 0, kHalf),
       FeatureSubset(held_out.images, usable, kHalf, 1), held_out.normalise, context);
  Expect(Themselves(database_.size()), 1);
  description_ = "mAP of finding the other half of a held-out image";
}

void TuneCriterion::Take(FeatureSubset queries, FeatureSubset database, bool normalise,
                         const RunContext& context) {
  query_images_.emplace(std::move(queries));
  database_images_.emplace(std::move(database));
  ReduceImages(*query_images_, normalise, queries_, context);
  ReduceImages(*database_images_, normalise, database_, context);
}

void TuneCriterion::Expect(const std::vector<std::vector<Index>>& answers, Index queries) {
  auto truth = std::make_unique<ListedTruth>(database_.size());
  for (const std::vector<Index>& relevant : answers) {
    for (Index i = 0; i < queries; ++i) truth->AddQuery(relevant);
  }
  truth_ = std::move(truth);
}

}  // namespace bitpool
