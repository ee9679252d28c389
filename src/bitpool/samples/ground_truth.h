#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// What a result is worth to a query.
enum class Judgement : uint8_t {
  kIrrelevant,
  kRelevant,
  kIgnored,  // counts neither way, as if it were not in the database (Oxford's junk, the query
             // itself)
};

// Which items of the database are right answers to each query.
class GroundTruth {
 public:
  virtual ~GroundTruth() = default;
  virtual Index query_count() const = 0;
  virtual Index database_size() const = 0;
  // Judges every item of the database. REQUIRES: out.size() == database_size().
  virtual void Judge(Index query, std::span<Judgement> out) const = 0;
};

// Answers listed one by one: Euclidean neighbours, Oxford, Holidays.
class ListedTruth : public GroundTruth {
 public:
  explicit ListedTruth(Index database_size) : database_size_(database_size) {}

  // The answers to the next query. Throws kInvalidArgument for an item that is not in the database,
  // or that is both relevant and ignored.
  void AddQuery(std::vector<Index> relevant, std::vector<Index> ignored = {});

  Index query_count() const override { return static_cast<Index>(queries_.size()); }
  Index database_size() const override { return database_size_; }
  void Judge(Index query, std::span<Judgement> out) const override;

  const std::vector<Index>& relevant(Index query) const {
    return queries_.at(static_cast<size_t>(query)).relevant;
  }

 private:
  struct Answers {
    std::vector<Index> relevant;
    std::vector<Index> ignored;
  };
  Index database_size_;
  std::vector<Answers> queries_;
};

// An item is right when it shares a class with the query.
class LabelTruth : public GroundTruth {
 public:
  LabelTruth(Labels queries, Labels database)
      : queries_(std::move(queries)), database_(std::move(database)) {}

  Index query_count() const override { return queries_.size(); }
  Index database_size() const override { return database_.size(); }
  void Judge(Index query, std::span<Judgement> out) const override;

 private:
  Labels queries_;
  Labels database_;
};

// A region of a picture, in pixels.
struct Box {
  float left = 0, top = 0, right = 0, bottom = 0;
};

// A query that is a picture, or a region of one, of the database.
struct PictureQuery {
  std::string name;        // of the query itself
  Index picture = 0;       // its place in the database
  std::optional<Box> box;  // the region to use, where the query is not the whole picture
};

// Queries and their answers over a database of named pictures.
struct RetrievalTask {
  std::vector<PictureQuery> queries;
  ListedTruth truth;
};

}  // namespace bitpool
