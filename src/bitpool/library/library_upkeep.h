#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/catalog/catalogue.h"
#include "bitpool/io/env.h"
#include "bitpool/library/library_folder.h"

namespace bitpool {

// A library that is being changed.
struct ChangingLibrary {
  Env& env;
  const LibraryFolder& folder;
  Catalogue& catalogue;
};

// What an update does at its end, even when an earlier process was killed before it got there: the
// index file is rewritten where it is not usable or too much has changed since, and what belongs to
// nothing is removed. With `sweep` thumbnails are looked through as well.
void FinishUpdate(const ChangingLibrary& library, LibraryFacts facts, bool sweep,
                  const RunContext& context);

// The same for a shared library, when no pictures are left to be done; others may be doing it as
// well. Thumbnails are looked through by the last of those who were at work, whoever of them was
// killed. REQUIRES: the caller no longer takes part in the work.
void FinishSharedUpdate(const ChangingLibrary& library, const RunContext& context);

}  // namespace bitpool
