#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "bitpool/base/run_context.h"
#include "bitpool/index/index_snapshot.h"
#include "bitpool/library/library_snapshot.h"

namespace bitpool {

// Gets codes one after the other, as a table of a database does. The path is empty where codes have
// none.
using CodeSink =
    std::function<void(int64_t id, std::span<const uint8_t> code, std::string_view path)>;

// Gives every code of a library with the path of its picture. Pictures that failed have none.
void ExportCodes(const LibrarySnapshot& library, const RunContext& context, const CodeSink& take);

// Gives every code of an index, by ascending ids and without paths. Throws kCorrupt, before the
// first code, when the file they lie in is damaged.
void ExportCodes(const IndexSnapshot& index, const RunContext& context, const CodeSink& take);

}  // namespace bitpool
