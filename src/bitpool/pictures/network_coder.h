#pragma once

#include <filesystem>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/network_file.h"
#include "bitpool/pictures/picture_coder.h"

namespace bitpool {

// How a coder is learned with the features of a network, from pictures and views of them, so that
// other pictures of the same scene get similar codes.
CoderTraining SceneTraining(const NamedNetwork& network);

// A network that gives codes by itself: the signs of its output are the bits.
struct CodeNetwork {
  CnnPaths files;
  CnnOptions options = {.layer = ""};  // no layer: the network's final output
  double threshold = 0;  // an output of this or more is a 1; for outputs of 0 and 1, 0.5
  // With these pictures the output, centred, is rotated so that little is lost by taking its signs
  // (ITQ).
  std::vector<std::filesystem::path> rotate_on = {};
  int bits = 0;  // with rotate_on; 0: as many as there are outputs

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

struct MadeCoder {
  PictureCoder coder;
  std::vector<FailedPicture> failed;  // of rotate_on, those that could not be used
};

// The coder of such a network, which becomes part of it. Throws kInvalidArgument for a network
// whose output is not one vector of at most kMaxBits numbers, for more bits than it has outputs, or
// without a picture to learn from.
MadeCoder CoderFromNetwork(Env& env, const CodeNetwork& network, const RunContext& context);

}  // namespace bitpool
