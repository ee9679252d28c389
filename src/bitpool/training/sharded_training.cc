#include "bitpool/training/sharded_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/shard_passes.h"
#include "bitpool/io/container.h"
#include "bitpool/linalg/kmeans.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/training/field_sections.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kPassKind = "pass";
constexpr const char* kPartKind = "part";
constexpr const char* kNotesKind = "notes";

fs::path PassPath(const fs::path& folder, int step) {
  return folder / fmt::format("step-{}.pass", step);
}
fs::path PartPath(const fs::path& folder, int step, int shard) {
  return folder / fmt::format("step-{}.shard-{}.part", step, shard);
}
fs::path NotesPath(const fs::path& folder, int step, int shard) {
  return folder / fmt::format("step-{}.shard-{}.notes", step, shard);
}

template <class VisitObject>
void WriteFile(Env& env, const fs::path& path, const char* kind, const json& metadata,
               const VisitObject& visit) {
  ContainerWriter writer(env, path, kind, IfExists::kReplace);
  FieldWriter fields(writer);
  visit(fields);
  writer.Commit(metadata);
}

Container OpenFile(Env& env, const fs::path& path, const char* kind) {
  Container container = Container::Open(env, path);
  container.ExpectKind(kind);
  return container;
}

std::string ReadText(const Container& container, const char* key) {
  const json& metadata = container.metadata();
  const auto found = metadata.find(key);
  if (found != metadata.end() && found->is_string()) return found->get<std::string>();
  throw Error(ErrorCode::kCorrupt, fmt::format("{}: section \"metadata\": expected a text \"{}\"",
                                               container.name(), key));
}

json DescribePlace(const ShardPlace& place) {
  return {{"first", place.first}, {"count", place.count}, {"total", place.total}};
}

// What a file of a shard says it belongs to: a pass of a job, and the shard's place.
json Belonging(const std::string& pass_digest, const ShardPlace& place) {
  return {{"pass", pass_digest}, {"place", DescribePlace(place)}};
}

bool Belongs(const Container& container, const std::string& pass_digest, const ShardPlace& place) {
  return container.metadata() == Belonging(pass_digest, place);
}

}  // namespace

FileShards::FileShards(Env& env, fs::path folder, std::string job, std::vector<ShardPlace> places,
                       ComputeParts compute)
    : env_(env),
      folder_(std::move(folder)),
      job_(std::move(job)),
      places_(std::move(places)),
      compute_(std::move(compute)),
      size_(RequireWhole(places_)) {
  env_.MakeFolders(folder_);
}

std::string FileShards::WritePass(Pass& pass, int step) const {
  FieldDigest fields;
  std::string about = fmt::format("{}\n{}\n{}", job_, step, pass.name());
  static_cast<FieldVisitor&>(fields).Visit("about", about);
  pass.Visit(fields);
  const std::string digest = fields.Take();
  const fs::path path = PassPath(folder_, step);
  if (env_.Exists(path) && ReadText(OpenFile(env_, path, kPassKind), "digest") == digest) {
    return digest;
  }
  WriteFile(env_, path, kPassKind, {{"pass", pass.name()}, {"digest", digest}},
            [&](FieldVisitor& visitor) { pass.Visit(visitor); });
  return digest;
}

bool FileShards::HasPart(int step, int shard, const std::string& digest) const {
  const fs::path path = PartPath(folder_, step, shard);
  return env_.Exists(path) &&
         Belongs(OpenFile(env_, path, kPartKind), digest, places_[static_cast<size_t>(shard)]);
}

void FileShards::Run(Pass& pass, const RunContext& context,
                     const std::function<void(Part&)>& take) {
  context.ThrowIfStopped();
  const int step = steps_++;
  const std::string digest = WritePass(pass, step);
  const auto count = static_cast<int>(places_.size());
  std::vector<int> missing;
  for (int shard = 0; shard < count; ++shard) {
    if (!HasPart(step, shard, digest)) missing.push_back(shard);
  }
  if (!missing.empty()) compute_(step, missing);
  for (int shard = 0; shard < count; ++shard) {
    if (!HasPart(step, shard, digest)) {
      throw Error(ErrorCode::kInternal,
                  fmt::format("{}: the part of shard {} is missing after it was computed",
                              PartPath(folder_, step, shard).string(), shard));
    }
    const std::unique_ptr<Part> part = pass.NewPart();
    ReadFields(OpenFile(env_, PartPath(folder_, step, shard), kPartKind),
               [&](FieldVisitor& fields) { part->Visit(fields); });
    take(*part);
  }
}

ShardWorker::ShardWorker(Env& env, fs::path folder, int number, Shard& shard)
    : env_(env), folder_(std::move(folder)), number_(number), shard_(shard) {}

json ShardWorker::BelongingOf(int step) const {
  const Container pass = OpenFile(env_, PassPath(folder_, step), kPassKind);
  return Belonging(ReadText(pass, "digest"), shard_.place());
}

// False when there are none that can be used: not written, damaged, or of another job or shard.
bool ShardWorker::TryReadNotes(int step) {
  const fs::path path = NotesPath(folder_, step, number_);
  if (!env_.Exists(path)) return false;
  try {
    const Container notes = OpenFile(env_, path, kNotesKind);
    if (notes.metadata() != BelongingOf(step)) return false;
    ReadFields(notes, [&](FieldVisitor& fields) { shard_.VisitNotes(fields); });
    return true;
  } catch (const Error&) {
    notes_of_ = kUnknown;  // some of them may have been read
    return false;
  }
}

void ShardWorker::BringTo(int step, const RunContext& context) {
  if (notes_of_ == step) return;
  if (notes_of_ > step) notes_of_ = kUnknown;
  int from = step;
  while (from > std::max(notes_of_, -1) && !TryReadNotes(from)) --from;
  if (from == -1) shard_.ForgetNotes();
  notes_of_ = kUnknown;
  for (int again = from + 1; again <= step; ++again) ComputePart(again, context);
  notes_of_ = step;
}

std::unique_ptr<Part> ShardWorker::ComputePart(int step, const RunContext& context) {
  const Container request = OpenFile(env_, PassPath(folder_, step), kPassKind);
  const std::unique_ptr<Pass> pass = MakePass(ReadText(request, "pass"));
  ReadFields(request, [&](FieldVisitor& fields) { pass->Visit(fields); });
  return pass->Compute(shard_, context);
}

void ShardWorker::Compute(int step, const RunContext& context) {
  const Stopwatch watch;
  BringTo(step - 1, context);
  notes_of_ = kUnknown;  // neither those before nor those after, should this be cut short
  const std::unique_ptr<Part> part = ComputePart(step, context);
  computed_seconds_ += watch.seconds();
  KeepNotes(step);
  WriteFile(env_, PartPath(folder_, step, number_), kPartKind, BelongingOf(step),
            [&](FieldVisitor& fields) { part->Visit(fields); });
  notes_of_ = step;
}

void ShardWorker::KeepNotes(int step) {
  constexpr double kComputingPerWriting = 10;
  if (computed_seconds_ < kComputingPerWriting * writing_seconds_) return;
  const Stopwatch watch;
  WriteFile(env_, NotesPath(folder_, step, number_), kNotesKind, BelongingOf(step),
            [&](FieldVisitor& fields) { shard_.VisitNotes(fields); });
  writing_seconds_ = watch.seconds();
  computed_seconds_ = 0;
  written_.push_back(step);
  // Those before are kept, for whoever has to compute this step again.
  if (written_.size() <= 2) return;
  const fs::path old = NotesPath(folder_, written_.front(), number_);
  if (env_.Exists(old)) env_.Remove(old);
  written_.erase(written_.begin());
}

std::unique_ptr<Pass> MakePass(std::string_view name) {
  if (name == MomentsPass().name()) return std::make_unique<MomentsPass>();
  if (name == CrossMomentsPass().name()) return std::make_unique<CrossMomentsPass>();
  for (const auto make : {MakeKMeansPass, MakeHashPass}) {
    if (std::unique_ptr<Pass> pass = make(name)) return pass;
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("a pass \"{}\" is not known", name));
}

}  // namespace bitpool
