#pragma once

#include <functional>
#include <map>
#include <optional>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"
#include "bitpool/training/method.h"

namespace bitpool {

// How the settings of a method of vectors want local features to become vectors.
PoolingRecipe PooledBy(const MethodSettings& settings);

// The vectors of images, and which pictures they are of.
struct PooledPictures {
  MatrixF vectors;
  Index per_picture = 1;
  std::vector<Index> pictures;       // those that could be pooled, with all of their images
  std::vector<std::string> skipped;  // names of images that could not
};

// Pools all images by a recipe without a coupling.
PooledPictures PoolPictures(const PoolingRecipe& recipe, const FeatureSet& features,
                            const RunContext& context);

// How the settings of a method of vectors want these images to become vectors: by generalised max
// pooling or, where the settings ask for it, as the method learns from the images.
PoolingRecipe RecipeFor(const MethodSettings& settings, const FeatureSet& images,
                        const RunContext& context);

// The vectors of images as the model pools them: from their records, or from the images themselves
// where descriptors have weights, which records do not have. Throws kInvalidArgument when the
// images are needed and null, or cannot be pooled.
MatrixF VectorsFor(const HashModel& model, const RecordStore& records, const FeatureSet* images,
                   const RunContext& context);

// The vectors of generalised max pooling of some images, made once for each μ and kept.
class PooledVectors {
 public:
  // What is pooled must outlive this.
  static PooledVectors OfRecords(const RecordStore& records);
  // Throws kInvalidArgument, naming the image, for one that cannot be pooled.
  static PooledVectors OfImages(const FeatureSet& images, bool normalise);

  const MatrixF& With(double mu, const RunContext& context);

 private:
  using Make = std::function<MatrixF(double mu, const RunContext& context)>;
  explicit PooledVectors(Make make) : make_(std::move(make)) {}

  Make make_;
  std::map<double, MatrixF> by_mu_;
};

// Trains any method on the records of pictures, many times: those of local features on the records
// themselves, the others on the vectors of generalised max pooling, and those that use views on the
// vectors of all images.
class RecordTrainer {
 public:
  // `labels` are those of the records; null: there are none. `views` are the same pictures with
  // their views, for methods that use them; null: there are none. All must outlive this.
  RecordTrainer(const RecordStore& records, const Labels* labels, const FeatureSet* views = nullptr,
                bool normalise = true);

  // Makes the vectors that the settings ask for, so that the time of Train is that of the training
  // alone.
  void Prepare(const MethodSettings& settings, const RunContext& context);

  // The model pools new images as the records were pooled; `normalise` of the settings must be what
  // the records were reduced with. Labels are given to the methods that need them. Throws
  // kInvalidArgument when settings and images do not fit.
  HashModel Train(const MethodSettings& settings, const RunContext& context);

 private:
  bool LearnsFromViews(const MethodSettings& settings) const;
  const MatrixF& VectorsFor(const MethodSettings& settings, const RunContext& context);
  HashModel TrainWithPooling(const MethodSettings& settings, const RunContext& context) const;

  const RecordStore& records_;
  const Labels* labels_;
  const FeatureSet* views_;
  PooledVectors pooled_;
  std::optional<PooledVectors> pooled_views_;
};

}  // namespace bitpool
