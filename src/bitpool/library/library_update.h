#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/library/library_writer.h"
#include "bitpool/library/picture_examination.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {

struct UpdateSummary {
  uint64_t added = 0;
  uint64_t changed = 0;    // has new content, or a code of another coder
  uint64_t removed = 0;    // is no longer there
  uint64_t unchanged = 0;  // also what was only touched, or was encoded before a stop
  // The failures of this update, by path: `unreadable`, and pictures that now have no code.
  std::vector<FailedPicture> failed;
  bool stopped = false;  // before all was done; what was done is kept
  double seconds = 0;

  std::string BriefReport() const;
};

// Brings a library up to date with the pictures that were found.
//
// Only pictures whose size or time changed are read, and only those whose content changed are
// encoded. A picture that cannot be encoded is recorded with the reason and tried again when it
// changes; one that cannot be read now is tried again the next time, and so is whatever lies in a
// folder that could not be listed. Thumbnails that were lost are made again.
//
// With another coder all pictures are encoded again. Their codes are gathered beside those of the
// old coder, which stay in use, and take their place together when all are there. After a stop or a
// kill the next update with the same coder goes on from there.
//
// The library is valid at any moment, even if the process is killed. A stop ends it early and
// without an exception. Throws kInvalidArgument when the library is of another folder, which is
// still there, and kNotFound, before anything is changed, when nothing at all is found in a folder
// that had pictures: it may be where a file system should be mounted.
UpdateSummary UpdateLibrary(LibraryWriter& writer, const LibraryUpdate& update,
                            const RunContext& context);

}  // namespace bitpool
