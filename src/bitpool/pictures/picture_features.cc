#include "bitpool/pictures/picture_features.h"

#include "bitpool/base/error.h"

namespace bitpool {

void EmbeddedFeatures::Read(Index image, MatrixF& descriptors) const {
  if (!embedding_) return raw_.Read(image, descriptors);
  MatrixF raw;
  raw_.Read(image, raw);
  descriptors = embedding_->Apply(raw);
}

MatrixF FeaturesIfAny(Env& env, const PictureDescriber& describer,
                      const std::filesystem::path& file) {
  try {
    return describer.Describe(describer.Decode(env.Read(file, MaxPictureBytes())));
  } catch (const Error&) {
    return MatrixF(describer.dimension(), 0);
  }
}

}  // namespace bitpool
