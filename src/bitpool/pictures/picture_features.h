#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "bitpool/base/matrix.h"
#include "bitpool/embed/triangulation_embedding.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/picture_describer.h"
#include "bitpool/samples/feature_set.h"

namespace bitpool {

// A feature set whose descriptors are embedded as they are read, where there is an embedding.
class EmbeddedFeatures : public FeatureSet {
 public:
  // Both must outlive this.
  EmbeddedFeatures(const FeatureSet& raw, const std::optional<TriangulationEmbedding>& embedding)
      : raw_(raw), embedding_(embedding) {}

  Index size() const override { return raw_.size(); }
  Index dimension() const override {
    return embedding_ ? embedding_->dimension() : raw_.dimension();
  }
  Index images_per_picture() const override { return raw_.images_per_picture(); }
  std::string name(Index image) const override { return raw_.name(image); }
  Index descriptor_count(Index image) const override { return raw_.descriptor_count(image); }
  void Read(Index image, MatrixF& descriptors) const override;

 private:
  const FeatureSet& raw_;
  const std::optional<TriangulationEmbedding>& embedding_;
};

// The features of the picture in a file; none (0 columns) where it cannot be read or described,
// which is left to be reported by whoever needs every picture.
MatrixF FeaturesIfAny(Env& env, const PictureDescriber& describer,
                      const std::filesystem::path& file);

}  // namespace bitpool
