#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitpool/base/matrix.h"

// Sums that travel: what training adds up over samples is computed for a shard of them, written,
// read and merged in the order of the shards, and has the same bits as the sum over all samples in
// one process, however they were cut.
//
// Additions of floating-point numbers do not associate, so the order of all of them is fixed, by
// the place of a sample in the whole alone. Samples are summed in chunks of up to kShardAlignment
// (512, 1024 or 2048, as the computation likes). Chunks are added from left to right within a block
// of kSumBlock samples, and blocks from left to right in the whole. A shard begins at a multiple of
// kShardAlignment. It needs to keep one sum for each block that begins in it and, of a block that
// began before it, the sum of every chunk. Shards of whole blocks are therefore the cheap ones, but
// any others are possible.

namespace bitpool {

inline constexpr Index kShardAlignment = 2048;
inline constexpr Index kSumBlock = 65536;

// Which samples of the whole a shard has.
struct ShardPlace {
  Index first = 0;
  Index count = 0;
  Index total = 0;  // samples of all shards

  // Throws kInvalidArgument for a place that is not inside the whole, does not begin at a multiple
  // of kShardAlignment or, unless it is the end of the whole, does not end at one.
  void Validate() const;
};

// Goes over the fields of an object by name, to write them or to read them: the same function of
// the object serves both. Names are unique within an object.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  virtual void Visit(const std::string& name, MatrixD& values) = 0;
  virtual void Visit(const std::string& name, MatrixF& values) = 0;
  virtual void Visit(const std::string& name, std::vector<uint8_t>& values) = 0;
  virtual void Visit(const std::string& name, std::vector<int32_t>& values) = 0;
  virtual void Visit(const std::string& name, std::vector<int64_t>& values) = 0;

  void Visit(const std::string& name, VectorD& values);
  void Visit(const std::string& name, VectorF& values);
  void Visit(const std::string& name, double& value);
  void Visit(const std::string& name, Index& value);
  void Visit(const std::string& name, int& value);
  void Visit(const std::string& name, bool& value);
  void Visit(const std::string& name, std::string& text);
  void Visit(const std::string& name, std::vector<std::string>& texts);
};

// Adds a prefix to the names of the fields of a part of an object.
class PrefixedFields : public FieldVisitor {
 public:
  PrefixedFields(FieldVisitor& fields, std::string prefix)
      : fields_(fields), prefix_(std::move(prefix)) {}

  void Visit(const std::string& name, MatrixD& values) override { Forward(name, values); }
  void Visit(const std::string& name, MatrixF& values) override { Forward(name, values); }
  void Visit(const std::string& name, std::vector<uint8_t>& values) override {
    Forward(name, values);
  }
  void Visit(const std::string& name, std::vector<int32_t>& values) override {
    Forward(name, values);
  }
  void Visit(const std::string& name, std::vector<int64_t>& values) override {
    Forward(name, values);
  }

 private:
  template <class Values>
  void Forward(const std::string& name, Values& values) {
    fields_.Visit(prefix_ + name, values);
  }

  FieldVisitor& fields_;
  std::string prefix_;
};

// What adds up: after a.Merge(b), a sums over the samples of both, those of b after those of a.
// Visit checks what it has read, and throws kInvalidArgument for fields that do not agree. A value
// made without arguments is only good for being read into.
template <class T>
concept MergeableSums = std::default_initializable<T> && std::copyable<T> &&
    requires(T sums, FieldVisitor& fields) {
  sums.Merge(std::as_const(sums));
  sums.Visit(fields);
};

// Matrices that add up entry by entry, by name: all sums but those that are kept relative to a mean
// (see moments.h). Numbers are matrices of one entry; counts are exact up to 2⁵³.
class Sums {
 public:
  struct Shape {
    std::string name;
    Index rows = 1;
    Index cols = 1;
  };

  Sums() = default;
  // Zeros.
  Sums(std::initializer_list<Shape> shapes);

  // REQUIRES: there is a matrix of this name.
  MatrixD& operator[](std::string_view name);
  const MatrixD& operator[](std::string_view name) const;
  double& number(std::string_view name) { return (*this)[name](0, 0); }
  double number(std::string_view name) const { return (*this)[name](0, 0); }

  void SetZero();
  // Throws kInvalidArgument for other names or sizes.
  void Merge(const Sums& other);
  void Visit(FieldVisitor& fields);

 private:
  std::vector<std::pair<std::string, MatrixD>> matrices_;
};

// What a step of training gives back for a shard.
class Part {
 public:
  virtual ~Part() = default;
  virtual void Visit(FieldVisitor& fields) = 0;
};

// The sums of a shard: a term for every run of samples that was added up from left to right.
template <MergeableSums S>
class SumTerms : public Part {
 public:
  struct Term {
    Index first = 0;  // its first sample, in the whole
    S sums;
  };

  void Visit(FieldVisitor& fields) override {
    std::vector<int64_t> firsts;
    for (const Term& term : terms) firsts.push_back(term.first);
    fields.Visit("terms", firsts);
    if (terms.size() > firsts.size()) terms.resize(firsts.size());
    for (size_t i = 0; i < firsts.size(); ++i) {
      if (i == terms.size()) terms.emplace_back();  // one by one: each has to be there to be read
      terms[i].first = firsts[i];
      PrefixedFields own(fields, "term" + std::to_string(i) + ".");
      terms[i].sums.Visit(own);
    }
  }

  std::vector<Term> terms;
};

// Makes the terms of a shard from its chunks, which come in order.
template <MergeableSums S>
class TermBuilder {
 public:
  // `blank` are sums without samples. The sums of the whole begin with `initial` where they go on
  // from an earlier result.
  TermBuilder(const ShardPlace& place, S blank, std::optional<S> initial = {})
      : place_(place), blank_(std::move(blank)), initial_(std::move(initial)) {}

  // The sums that the chunk beginning at sample `first` of the whole is to be added to.
  S& At(Index first) {
    const Index block = first - first % kSumBlock;
    const bool goes_on = !terms_.terms.empty() && first != block && block >= place_.first;
    if (!goes_on) Begin(first);
    return terms_.terms.back().sums;
  }

  SumTerms<S> Take() { return std::move(terms_); }

 private:
  void Begin(Index first) {
    auto& terms = terms_.terms;
    // Where the shard begins the whole, everything before its last block is one sum.
    if (place_.first == 0 && terms.size() == 2) {
      terms[0].sums.Merge(terms[1].sums);
      terms.pop_back();
    }
    terms.push_back({first, first == 0 && initial_ ? *std::move(initial_) : blank_});
  }

  ShardPlace place_;
  S blank_;
  std::optional<S> initial_;
  SumTerms<S> terms_;
};

// Merges the terms of all shards, which come in order.
template <MergeableSums S>
class TermMerger {
 public:
  void Add(SumTerms<S>& shard) {
    for (typename SumTerms<S>::Term& term : shard.terms) {
      if (term.first % kSumBlock == 0 || !in_block_) {
        EndBlock();
        block_ = std::move(term.sums);
        in_block_ = true;
      } else {
        block_.Merge(term.sums);
      }
    }
  }

  // The sums of all; `blank` where there were no samples.
  S Take(S blank) {
    EndBlock();
    return has_total_ ? std::move(total_) : std::move(blank);
  }

 private:
  void EndBlock() {
    if (!in_block_) return;
    if (has_total_) {
      total_.Merge(block_);
    } else {
      total_ = std::move(block_);
    }
    has_total_ = true;
    in_block_ = false;
  }

  S total_;  // of the blocks before, where there were any
  bool has_total_ = false;
  S block_;  // the one that terms are added to, where it has begun
  bool in_block_ = false;
};

}  // namespace bitpool
