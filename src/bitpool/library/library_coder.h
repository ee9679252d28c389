#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/image/picture_views.h"
#include "bitpool/io/env.h"
#include "bitpool/library/library_folder.h"
#include "bitpool/library/library_writer.h"
#include "bitpool/pictures/network_file.h"
#include "bitpool/pictures/picture_coder.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {

// The coder that made the codes of a library. Throws kNotFound when its file is not there, and
// kCorrupt when there is another one in its place.
PictureCoder OpenLibraryCoder(Env& env, const LibraryFolder& folder, const LibraryFacts& facts);

// A coder, and codes that learning it has produced.
struct ChosenCoder {
  PictureCoder coder;
  std::map<uint64_t, PictureCode> codes = {};  // by the checksum of the picture's bytes

  // What the coder makes of a picture.
  PictureCode Encode(std::span<const std::byte> bytes) const;
};

// What is asked of the coder of an update.
struct CoderChoice {
  std::optional<int> bits = {};              // of a new coder; unset: those of the shipped one
  std::filesystem::path coder = {};          // a coder's file; empty: see ChooseCoder
  std::optional<NamedNetwork> network = {};  // to learn with; unset: SIFT
  std::optional<ViewKind> learn = {};      // learn one, without a network, for this kind of search
  const std::filesystem::path& root;       // the folder of pictures
  const std::vector<FoundPicture>& found;  // what a new coder learns from
};

// The coder that an update will have; nothing when it is to be learned.
struct PlannedCoder {
  std::optional<PictureCoder> coder = {};
  // The library's own, from a file where version 1 had it.
  bool of_first_version = false;
};

// The first of these that applies: the coder that was named, or is to be learned; with a network,
// the library's own coder if it has these features, or otherwise one that is learned from the
// pictures; the coder whose codes are being gathered; the library's own; the coder that ships with
// the program, or, for codes of other lengths than its own, one that is learned from the pictures.
// `facts` are what the library says about itself; it need not be there. Writes nothing. Throws
// kNotFound when there is nothing to learn a coder from, kInvalidArgument when there are too few
// pictures to learn from or the coder has other bits than were asked for, and as OpenCoder and
// MappedNetwork.
PlannedCoder PlanCoder(Env& env, const LibraryFolder& folder,
                       const std::optional<LibraryFacts>& facts, const CoderChoice& choice);

// That coder, learned if need be. Its file is in the library's folder afterwards. Throws kCancelled
// when it was stopped before there was a coder, and as PlanCoder and TrainCoder.
ChosenCoder ChooseCoder(const LibraryWriter& writer, const CoderChoice& choice,
                        const RunContext& context);

}  // namespace bitpool
