#pragma once

#include <memory>

#include "bitpool/serve/jobs.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {

// Takes pictures that were moved to the trash folder out of the catalogue, and their thumbnails out
// of the library, so that nobody finds them any more. If an update is running, this is left to the
// next one; until then the decision alone keeps them out of duplicates.
void ForgetMoved(ServedLibrary& served, const ServedDecision& decision);

// Starts an update of the library, or finds the one that is running. Throws ProblemError (503) when
// the server is ending.
std::shared_ptr<Job> StartUpdate(ServiceState& state, ServedLibrary& served);

}  // namespace bitpool
