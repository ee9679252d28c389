#include "bitpool/library/code_export.h"

#include <vector>

#include "bitpool/codes/binary_codes.h"

namespace bitpool {
namespace {

Progress StartExport(const IndexSnapshot& index, const RunContext& context) {
  return context.StartProgress("exporting", "codes", static_cast<uint64_t>(index.size()));
}

}  // namespace

void ExportCodes(const LibrarySnapshot& library, const RunContext& context, const CodeSink& take) {
  Progress progress = StartExport(library.index(), context);
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    context.ThrowIfStopped();
    if (picture.code.empty()) return;
    take(static_cast<int64_t>(picture.id), picture.code, picture.path);
    progress.Advance();
  });
}

void ExportCodes(const IndexSnapshot& index, const RunContext& context, const CodeSink& take) {
  index.RequireVerified();
  const auto segment = index.Compacted();
  std::vector<uint8_t> code(BytesPerCode(index.bits()));
  Progress progress = StartExport(index, context);
  for (size_t slot = 0; slot < segment->size(); ++slot) {
    context.ThrowIfStopped();
    segment->CopyCode(slot, code.data());
    take(segment->id(slot), code, {});
    progress.Advance();
  }
}

}  // namespace bitpool
