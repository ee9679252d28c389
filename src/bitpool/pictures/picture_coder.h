#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/embed/triangulation_embedding.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/picture.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/container.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/picture_describer.h"
#include "bitpool/pictures/picture_files.h"
#include "bitpool/training/method.h"
#include "bitpool/training/model_file.h"

namespace bitpool {

struct PictureCode {
  std::vector<uint8_t> code;  // packed bits
  VectorF projection;         // h before rounding, one number per bit
  PictureFacts facts;         // of the original
  Index descriptors = 0;      // local features it was made from
  // The picture as it was decoded for describing, so that a thumbnail need not decode it again;
  // empty when the code was made from features.
  Picture decoded = {};
};

// Turns the bytes of a picture into a code: decoded, scaled, described by local features, which are
// embedded, pooled and hashed. The same bytes give the same code, in a batch or alone, at any
// number of threads. Never changes, may be used from many threads, and copies share everything.
class PictureCoder {
 public:
  // Throws kInvalidArgument for a model that takes vectors, unless a picture has just one vector,
  // and for features of another dimension.
  PictureCoder(PictureDescriber describer, StoredModel model);

  int bits() const;
  // A digest of everything that determines the codes. Only codes of equal digests can be compared.
  const std::string& digest() const;
  const PictureDescriber& describer() const;
  const StoredModel& model() const;

  // Throws as DecodePicture; kUnsupported, "no local features", where there is nothing to
  // describe.
  PictureCode Encode(std::span<const std::byte> picture) const;
  // The code of the picture's mirror image: it is near those of mirrored copies.
  PictureCode EncodeMirrored(std::span<const std::byte> picture) const;
  // The embedded local features that Encode pools.
  MatrixF Describe(const Picture& picture) const;
  // What Encode makes of them. REQUIRES: at least one.
  PictureCode EncodeFeatures(MatrixF features, PictureFacts facts) const;

 private:
  struct State;

  PictureCode EncodeDecoded(Picture decoded, std::span<const std::byte> picture) const;

  std::shared_ptr<const State> state_;
};

// A coder in a container (.bpc), with the bytes of its network, if it has one: the one file is all
// that a query needs.
void SaveCoder(Env& env, const std::filesystem::path& path, const PictureCoder& coder,
               IfExists if_exists);
// Throws kCorrupt, naming the section, for anything that is not a complete coder; kUnsupported for
// a coder whose preprocessing is newer than this program.
PictureCoder OpenCoder(Env& env, const std::filesystem::path& path);
PictureCoder ParseCoder(const Container& container);

struct CoderTraining {
  ExtractorSettings extractor = {};
  // For hesaff and dense; features of networks are not embedded.
  TriangulationOptions embedding = {};
  MethodSettings hash = {.method = "sah", .bits = 64};  // a method that needs no labels
  // Of every picture, for methods that learn from views and only for those.
  ViewPlan views = {};
  // Dimensions of a network's features after a local PCA, learned from the pictures; 0: the
  // features as they come.
  Index reduced = 0;
  Index pictures = 2000;   // learn from at most this many, drawn by the seed
  Index sample = 200'000;  // local features the embedding learns from, at most

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

struct TrainedCoder {
  PictureCoder coder;
  // The codes of the pictures it learned from, by the checksum of their bytes: those that Encode
  // would make, without describing the pictures again.
  std::map<uint64_t, PictureCode> codes;
  TrainingSummary summary;            // of the hash functions
  std::vector<FailedPicture> failed;  // of those drawn, the ones it could not use
};

// Learns a coder from pictures. Their features are kept in the folder `scratch`, which is made when
// it is not there and should be for this job alone: about 0.5 MB for a picture with 1000 regions,
// and 1 MB more when the hash functions are learned. All of it is removed at the end, and the
// folder when nothing else is in it. Memory is a few hundred MB at any number of pictures.
//
// A few pictures are enough, even one: then
// - the embedding has only as many anchors as there are features to learn it from (four for each of
//   its components), and there is none where two anchors would be too many;
// - without views, each picture is learned several times, as a whole and as random halves of its
//   features, so that there are four samples for each bit and the bits tell apart more than just
//   these pictures.
//
// A picture that cannot be used is reported and the others are used. Stopped, it throws kCancelled,
// or gives what is learned by then with summary.interrupted. Throws kInvalidArgument when no
// picture can be used, or all features are the same.
TrainedCoder TrainCoder(Env& env, const CoderTraining& training,
                        const std::vector<std::filesystem::path>& pictures,
                        const std::filesystem::path& scratch, const RunContext& context);

}  // namespace bitpool
