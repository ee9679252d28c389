#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/embed/local_pca.h"
#include "bitpool/embed/triangulation_embedding.h"
#include "bitpool/features/cnn_extractor.h"
#include "bitpool/features/sift_extractor.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/picture_views.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/network_file.h"

namespace bitpool {

// How local features are made of a picture.
struct ExtractorSettings {
  std::string kind = "hesaff";  // "hesaff", "dense" or "cnn"
  // Pictures are first scaled down to this; for a network that wants more, to what it wants.
  Index max_side = 480;
  HessianAffineOptions hesaff = {};
  DenseSiftOptions dense = {};
  CnnOptions cnn = {};
  CnnPaths network = {};  // where a network is read from; empty once it is part of a coder

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// The bytes of a network's files, as CnnFiles; empty when there is none.
struct NetworkBytes {
  std::vector<std::byte> definition, weights;
};

// What determines the features, apart from the network: the settings of this kind alone, and the
// version of everything done with pictures beforehand (decoding, scaling) and in the extractors.
nlohmann::json DescribeExtractor(const ExtractorSettings& settings);
// Throws kCorrupt for anything that DescribeExtractor did not make, kUnsupported for a version that
// is newer than this program.
ExtractorSettings ParseExtractor(const nlohmann::json& description);

// Turns pictures into local features: decoded, scaled, extracted and, where there is a reduction or
// an embedding, reduced and embedded. Never changes, may be used from many threads, and copies
// share everything.
class PictureDescriber {
 public:
  // Throws kInvalidArgument for invalid settings or an embedding of another dimension, and as
  // CnnExtractor.
  PictureDescriber(const ExtractorSettings& settings, NetworkBytes network,
                   std::optional<TriangulationEmbedding> embedding);
  // The same with the files that settings.network names, which are read. Throws also kNotFound.
  static PictureDescriber Open(Env& env, const ExtractorSettings& settings);

  const ExtractorSettings& settings() const;
  const NetworkBytes& network() const;
  const std::optional<LocalPca>& reduction() const;
  const std::optional<TriangulationEmbedding>& embedding() const;
  Index dimension() const;  // of a feature
  // Whether a picture has one feature, a vector of the whole, and needs no pooling.
  bool gives_one_vector() const;
  // A digest of everything that determines the features. Equal digests mean equal features.
  const std::string& digest() const;

  // The same with features that are reduced as soon as they are extracted, before any embedding.
  // REQUIRES: no embedding yet. Throws kInvalidArgument for a reduction of another dimension.
  PictureDescriber WithReduction(LocalPca reduction) const;
  // The same without the embedding, and with another.
  PictureDescriber WithEmbedding(std::optional<TriangulationEmbedding> embedding) const;

  // The picture in the form in which it is described. Throws as DecodePicture.
  Picture Decode(std::span<const std::byte> bytes) const;
  PictureFacts Inspect(std::span<const std::byte> bytes) const;
  // The features of a picture that Decode gave; none where there is nothing to describe.
  MatrixF Describe(const Picture& picture) const;

 private:
  struct State;
  explicit PictureDescriber(std::shared_ptr<const State> state);

  std::shared_ptr<const State> state_;
};

// The most bytes a file of a picture may have.
uint64_t MaxPictureBytes();

// What became of one of many pictures.
struct DescribedPicture {
  MatrixF features;
  std::vector<MatrixF> views;  // features of its views; the picture's own where a view has none
  uint64_t checksum = 0;       // of the bytes
  PictureFacts facts;
  std::string failure;  // why there are none; empty when there are
};

// Reads and describes the files in parallel and calls take(i, picture) for each, in order, on the
// calling thread. Two pictures per thread are in memory at once. A picture without features counts
// as failed, like one that cannot be read. With a plan, the views of every picture are described
// too.
void DescribePictures(Env& env, const PictureDescriber& describer,
                      const std::vector<std::filesystem::path>& files, Progress& progress,
                      const RunContext& context,
                      const std::function<void(size_t, const DescribedPicture&)>& take,
                      const ViewPlan& plan = {});

inline constexpr const char* kNoFeatures = "no local features: there is nothing to describe";

}  // namespace bitpool
