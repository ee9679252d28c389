#include "bitpool/serve/library_changes.h"

#include <algorithm>

#include "bitpool/base/error.h"
#include "bitpool/http/problem.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/library_writer.h"

namespace bitpool {
namespace {

nlohmann::json SummaryJson(const UpdateSummary& summary) {
  return {{"added", summary.added},          {"changed", summary.changed},
          {"removed", summary.removed},      {"unchanged", summary.unchanged},
          {"failed", summary.failed.size()}, {"stopped", summary.stopped},
          {"seconds", summary.seconds}};
}

// One that stays is litter: what was decided is done.
void RemoveThumbnails(const ServedLibrary& served, const std::vector<uint64_t>& ids) {
  const LibraryThumbnails thumbnails(served.env(), served.library().folder());
  for (const uint64_t id : ids) {
    try {
      thumbnails.Remove(id);
    } catch (const Error&) {  // perhaps another process was faster
    }
  }
}

}  // namespace

void ForgetMoved(ServedLibrary& served, const ServedDecision& decision) {
  const auto stayed = [&](const DecidedPicture& picture) {
    return std::ranges::any_of(decision.failures,
                               [&](const auto& one) { return one.first == picture.path; });
  };
  try {
    const LibraryWriter writer(served.env(), served.library().folder());
    const auto batch = writer.catalogue().StartBatch(PictureSet::kCurrent);
    std::vector<uint64_t> removed;
    for (const DecidedPicture& picture : decision.gone) {
      if (stayed(picture)) continue;
      if (const auto id = batch->Remove(picture.path)) removed.push_back(*id);
    }
    batch->Commit();
    RemoveThumbnails(served, removed);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResources) throw;
  }
  served.Follow();
}

std::shared_ptr<Job> StartUpdate(ServiceState& state, ServedLibrary& served) {
  auto job = state.jobs.Start(served.name(), [&served](Job& running) {
    const RunContext context(
        {.stop = running.stop_token(), .progress = running.shared_from_this()});
    UpdateOptions options;
    options.on_failure = [&running](const FailedPicture& failed) {
      running.NoteFailure(failed.path.string(), failed.reason);
    };
    const UpdateSummary summary = served.library().Update(options, context);
    served.Follow();
    return SummaryJson(summary);
  });
  if (job) return job;
  throw ProblemError(503, "stopping", "the server is ending");
}

}  // namespace bitpool
