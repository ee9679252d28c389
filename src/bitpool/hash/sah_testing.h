#pragma once

#include <vector>

#include "bitpool/hash/sah.h"
#include "bitpool/linalg/testing.h"

// Shared by the tests of SAH.
namespace bitpool {

inline constexpr Index kSahDimension = 16;

inline MemoryRecords RecordsOf(const FeatureSet& features, bool normalise) {
  MemoryRecords records(features.dimension());
  ReduceImages(features, normalise, records, RunContext());
  return records;
}

inline SahOptions SahOptionsFor(int bits) {
  SahOptions options;
  options.bits = bits;
  options.rba.beta = 0.01;
  options.min_flipped = 0;
  return options;
}

inline const LinearMap& EncoderOf(const Trained<HashModel>& trained) {
  return dynamic_cast<const LinearEncoder&>(*trained.model.encoder).map();
}

inline bool SameModel(const Trained<HashModel>& a, const Trained<HashModel>& b) {
  return SameBits(EncoderOf(a).weights, EncoderOf(b).weights) &&
         SameBits(EncoderOf(a).bias, EncoderOf(b).bias) &&
         SameBits(a.model.decoder.weights, b.model.decoder.weights) &&
         SameBits(a.model.decoder.bias, b.model.decoder.bias) &&
         a.model.pooling->gamma == b.model.pooling->gamma;
}

// All states after an iteration.
inline std::vector<JointState> StatesOf(const SahOptions& options, const RecordStore& records) {
  std::vector<JointState> states;
  TrainSah(options, records, RunContext(),
           {.observer = [&](const JointState& state) { states.push_back(state); }});
  return states;
}

}  // namespace bitpool
