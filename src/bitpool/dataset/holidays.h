#pragma once

#include <string>
#include <vector>

#include "bitpool/samples/ground_truth.h"

namespace bitpool {

// The INRIA Holidays protocol, from the names of the pictures alone: the number in a name divided
// by 100 is its group, a number that ends in 00 is a query, the other pictures of the group are its
// answers, and the query is removed from its own ranking. Queries without another picture in their
// group are left out (a partial copy has some). Throws kInvalidArgument for a name without such a
// number, or one that appears twice.
RetrievalTask MakeHolidaysTask(const std::vector<std::string>& names);

}  // namespace bitpool
