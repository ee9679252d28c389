#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bitpool/codes.h"
#include "bitpool/export.h"
#include "bitpool/run.h"
#include "bitpool/vectors.h"

namespace bitpool {
inline namespace v0 {

struct TrainOptions {
  int bits = 32;
  // Constants of the method by name, such as {"lambda", 0.01}; those not named keep their defaults.
  // They are the options that `bitpool train --help` lists for the method, with underscores for
  // hyphens; a switch is 0 or 1.
  std::map<std::string, double> constants = {};
};

// A trained model: turns vectors into bits and back. It never changes, may be used from many
// threads, and copies share what they hold.
class Model {
 public:
  BITPOOL_EXPORT static Model Open(const std::filesystem::path& path);  // .bpm
  // Replaces an existing file.
  BITPOOL_EXPORT void Save(const std::filesystem::path& path) const;

  BITPOOL_EXPORT std::string_view method() const;
  BITPOOL_EXPORT int bits() const;
  BITPOOL_EXPORT std::size_t dimension() const;  // of the vectors it takes
  // How the training went, in a line; empty for a model from a file.
  BITPOOL_EXPORT const std::string& report() const;

  // The codes of vectors. Throws kInvalidArgument for another dimension, and, naming the vector,
  // for numbers that are not finite; and for a model of "sah", which pools local features together
  // with the codes.
  BITPOOL_EXPORT Codes Encode(const Vectors& vectors, const Run& run = {}) const;
  // The numbers whose signs are the codes, `bits` for each vector: as queries they find more than
  // codes do (Index::SearchReal).
  BITPOOL_EXPORT OwnedVectors Project(const Vectors& vectors, const Run& run = {}) const;
  // The vectors that codes stand for, as closely as the bits can tell.
  BITPOOL_EXPORT OwnedVectors Reconstruct(const Codes& codes) const;

  // The codes of the images of a feature file (.bpf), for a model that was trained on local
  // features. An image without descriptors has a code of zeros.
  BITPOOL_EXPORT Codes EncodeFeatures(const std::filesystem::path& features,
                                      const Run& run = {}) const;
  // Their numbers, as Project gives those of vectors. An image without descriptors has zeros.
  BITPOOL_EXPORT OwnedVectors ProjectFeatures(const std::filesystem::path& features,
                                              const Run& run = {}) const;

 private:
  struct Impl;
  friend struct ModelMaker;  // for the functions below
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

// Learns codes from vectors: "rba", "itq", "kmh", "sph", "ba", "pcah", "lsh", "sadh", "graphbit" or
// "deepbit". Throws kInvalidArgument, saying what was expected, for a method, a constant or data
// that do not fit.
BITPOOL_EXPORT Model Train(std::string_view method, const Vectors& vectors,
                           const TrainOptions& options = {}, const Run& run = {});
// The same from a file of vectors, which may be larger than memory: .npy, .fvecs, .bvecs, IDX,
// .bpv.
BITPOOL_EXPORT Model Train(std::string_view method, const std::filesystem::path& vectors,
                           const TrainOptions& options = {}, const Run& run = {});
// Learns from vectors and the class of each: "sdh", "ksh", "bre" or "cca-itq".
BITPOOL_EXPORT Model Train(std::string_view method, const Vectors& vectors,
                           std::span<const std::int32_t> classes, const TrainOptions& options = {},
                           const Run& run = {});
// Learns from the local features of images (.bpf): "sah", which learns their aggregation too, or
// any method above, on the vectors of generalised max pooling; where the file has views of every
// picture, also "sav" and "cibhash"; with the class of each picture also "sash" and those that
// learn from classes. The model is saved at `output`; an existing file is replaced. "sah", "sash"
// and "sav" keep a checkpoint beside it while they train; the same call goes on from there after an
// interruption.
BITPOOL_EXPORT Model TrainOnFeatures(std::string_view method, const std::filesystem::path& features,
                                     const std::filesystem::path& output,
                                     const TrainOptions& options = {}, const Run& run = {});
BITPOOL_EXPORT Model TrainOnFeatures(std::string_view method, const std::filesystem::path& features,
                                     std::span<const std::int32_t> classes,
                                     const std::filesystem::path& output,
                                     const TrainOptions& options = {}, const Run& run = {});

}  // namespace v0
}  // namespace bitpool
