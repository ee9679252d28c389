#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/report/experiment_result.h"

namespace bitpool {

// What figures were measured on.
MachineFacts FactsOfThisMachine(const RunContext& context);

}  // namespace bitpool
