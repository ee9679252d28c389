#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bitpool/io/env.h"
#include "bitpool/samples/ground_truth.h"

namespace bitpool {

// The protocol of Oxford5k and Paris6k, from the folder of its ground-truth files: for each query
// NAME, NAME_query.txt holds a picture and a box, NAME_good.txt and NAME_ok.txt the right answers
// and NAME_junk.txt the pictures that are ignored. Pictures are found in `names` (the database) by
// their name without folder and extension; a leading "oxc1_" is dropped, as the data set's own tool
// does. Throws kCorrupt with file and line, and kNotFound for a picture that is not in the
// database.
RetrievalTask LoadOxfordTask(Env& env, const std::filesystem::path& folder,
                             const std::vector<std::string>& names);

}  // namespace bitpool
