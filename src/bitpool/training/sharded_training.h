#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/io/env.h"
#include "bitpool/linalg/shards.h"

// Training whose shards are somewhere else, through the files of a folder that all can see.
//
// A trainer (TrainItq, TrainRba, TrainSah, TrainSash, TrainKMeans) is given FileShards. Each step
// of it writes a pass, has the missing parts computed, and merges all parts in the order of the
// shards; the model has the same bytes as from one process. Whoever computes a part has a
// ShardWorker and the shard's data, and nothing else. Parts are pure functions of their pass and
// their shard: any may be computed again, by anyone. A training that is begun again, with the same
// job, in a folder where it was stopped, finds the parts that are there and continues with the
// first that is not.
//
// The files are containers: `step-N.pass`, `step-N.shard-K.part` and `step-N.shard-K.notes`, what
// the shard remembers after the step. Notes may be as large as the samples, so they are written now
// and then; whoever has to continue without them repeats the steps since then. Files that another
// job left are replaced.

namespace bitpool {

// The side of the trainer.
class FileShards : public Shards {
 public:
  // Has these parts of a step computed and returns when they are there: for example, it hands them
  // to machines that have a ShardWorker each.
  using ComputeParts = std::function<void(int step, const std::vector<int>& shards)>;

  // `job` says what is trained, how, and on which data: parts of other jobs are not taken for
  // those of this one. Throws kInvalidArgument unless the places cover all samples in order.
  FileShards(Env& env, std::filesystem::path folder, std::string job,
             std::vector<ShardPlace> places, ComputeParts compute);

  Index size() const override { return size_; }
  // Throws kInternal when a part is still missing after `compute`, and kCorrupt for a damaged one.
  void Run(Pass& pass, const RunContext& context, const std::function<void(Part&)>& take) override;

  int steps() const { return steps_; }  // begun so far

 private:
  std::string WritePass(Pass& pass, int step) const;
  bool HasPart(int step, int shard, const std::string& digest) const;

  Env& env_;
  std::filesystem::path folder_;
  std::string job_;
  std::vector<ShardPlace> places_;
  ComputeParts compute_;
  Index size_;
  int steps_ = 0;
};

// The side of a shard. May be made anew for every step, in any process: it then reads what the
// shard has remembered, and computes again what was not written.
class ShardWorker {
 public:
  // `shard` is the one with this number, counted from 0. It must outlive this.
  ShardWorker(Env& env, std::filesystem::path folder, int number, Shard& shard);

  // Computes the part of a step and writes it. Steps may be repeated.
  void Compute(int step, const RunContext& context);

 private:
  // Has the shard remember what it does after a step; −1: before the first one.
  void BringTo(int step, const RunContext& context);
  bool TryReadNotes(int step);
  std::unique_ptr<Part> ComputePart(int step, const RunContext& context);
  void KeepNotes(int step);
  nlohmann::json BelongingOf(int step) const;

  static constexpr int kUnknown = -2;

  Env& env_;
  std::filesystem::path folder_;
  int number_;
  Shard& shard_;
  int notes_of_ = kUnknown;  // the step after which the shard's notes are as they are now
  // Notes are written when computing has taken several times as long as writing them takes.
  double computed_seconds_ = 0;  // since the last were written
  double writing_seconds_ = 0;   // of the last ones
  std::vector<int> written_;     // the steps whose notes this has written and not removed
};

// An empty pass of any method by its name, to be read into. Throws kUnsupported for another name.
std::unique_ptr<Pass> MakePass(std::string_view name);

}  // namespace bitpool
