#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/sums.h"

// Training over shards. A trainer is a loop: a pass says what is to be computed and carries the
// state that the computation needs; every shard computes its part, and remembers what is its own,
// such as the codes of its samples; the parts are merged in the order of the shards, and give the
// next state. The trainer does not know where the shards are, in this process or reached through
// files.

namespace bitpool {

// The name of the columns that a shard of vectors is given.
inline constexpr const char* kInputs = "inputs";

// Some of the samples, and what passes have noted about them.
class Shard {
 public:
  // Throws kInvalidArgument for a place that has no meaning.
  explicit Shard(ShardPlace place);
  // All samples of a source, which must outlive this, given as kInputs.
  explicit Shard(const ColumnSource& all);
  virtual ~Shard() = default;
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  const ShardPlace& place() const { return place_; }

  // The columns of its samples, one each, which must outlive this. Throws kInvalidArgument for
  // another number of columns.
  void Give(const std::string& name, const ColumnSource& columns);
  // Null where nothing of that name was given.
  const ColumnSource* given(const std::string& name) const;

  // Notes: arrays that stay with the shard from one pass to the next; empty at first.
  MatrixF& Matrix(const std::string& name) { return Note<MatrixF>(name); }
  std::vector<uint8_t>& Bytes(const std::string& name) { return Note<std::vector<uint8_t>>(name); }
  std::vector<int32_t>& Numbers(const std::string& name) {
    return Note<std::vector<int32_t>>(name);
  }

  // A matrix that was noted, for readers on many threads; null where there is none.
  const MatrixF* noted(const std::string& name) const;

  // All notes, for whoever stores them between passes.
  void VisitNotes(FieldVisitor& fields);
  void ForgetNotes() { notes_.clear(); }

 private:
  using AnyNote = std::variant<MatrixF, std::vector<uint8_t>, std::vector<int32_t>>;

  template <class T>
  T& Note(const std::string& name);
  static AnyNote BlankNote(int32_t type);

  ShardPlace place_;
  std::map<std::string, const ColumnSource*> given_;
  std::map<std::string, AnyNote> notes_;
};

// Columns of a shard by name: given ones, or a matrix that was noted. The shard, and the note, must
// outlive this.
class ShardColumns : public ColumnSource {
 public:
  // Throws kInvalidArgument when the shard has no such columns.
  ShardColumns(Shard& shard, const std::string& name);

  Index dimension() const override { return given_ ? given_->dimension() : noted_.dimension(); }
  Index size() const override { return given_ ? given_->size() : noted_.size(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override {
    return given_ ? given_->Read(first, count, buffer) : noted_.Read(first, count, buffer);
  }

  const ColumnSource* given_;
  MatrixColumns noted_;
};

// One computation over all shards, with the state that it needs.
class Pass {
 public:
  virtual ~Pass() = default;

  virtual std::string_view name() const = 0;
  // The state, to be written, or to be read into a pass of the same name.
  virtual void Visit(FieldVisitor& fields) = 0;
  // A part to be read into.
  virtual std::unique_ptr<Part> NewPart() const = 0;
  // A function only of the pass, the shard's columns and its notes, not of the threads nor of the
  // other shards. Throws kInvalidArgument when the shard does not have what the pass needs.
  virtual std::unique_ptr<Part> Compute(Shard& shard, const RunContext& context) const = 0;
};

// A pass whose parts add up.
template <MergeableSums S>
class SumPass : public Pass {
 public:
  std::unique_ptr<Part> NewPart() const override { return std::make_unique<SumTerms<S>>(); }
  std::unique_ptr<Part> Compute(Shard& shard, const RunContext& context) const override {
    return std::make_unique<SumTerms<S>>(ComputeTerms(shard, context));
  }

 private:
  virtual SumTerms<S> ComputeTerms(Shard& shard, const RunContext& context) const = 0;
};

// All samples, in shards.
class Shards {
 public:
  virtual ~Shards() = default;

  virtual Index size() const = 0;  // samples of all shards
  // Has every shard compute its part, and calls take(part) for each, in the order of the shards.
  virtual void Run(Pass& pass, const RunContext& context,
                   const std::function<void(Part&)>& take) = 0;
};

// The sums of all samples; `blank` where there are none.
template <MergeableSums S>
S RunSums(Shards& shards, SumPass<S>& pass, S blank, const RunContext& context) {
  TermMerger<S> merger;
  shards.Run(pass, context, [&](Part& part) { merger.Add(dynamic_cast<SumTerms<S>&>(part)); });
  return merger.Take(std::move(blank));
}

// Shards in this process, which compute one after the other, each with all threads.
class LocalShards : public Shards {
 public:
  // The shards must outlive this. Throws kInvalidArgument unless they cover all samples, in order.
  explicit LocalShards(std::vector<Shard*> shards);

  Index size() const override { return size_; }
  void Run(Pass& pass, const RunContext& context, const std::function<void(Part&)>& take) override;

 private:
  std::vector<Shard*> shards_;
  Index size_;
};

// Throws kInvalidArgument unless the places cover all samples, in order. Returns their number.
Index RequireWhole(const std::vector<ShardPlace>& places);

}  // namespace bitpool
