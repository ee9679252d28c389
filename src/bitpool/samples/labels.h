#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

// Classes are numbers below this: counting the members of each takes room for all of them.
inline constexpr int32_t kMaxClasses = 1 << 22;

// The classes of each item: one, several, or none. Classes are numbers from 0.
class Labels {
 public:
  // One class per item. Throws kInvalidArgument for a class that is negative or not below
  // kMaxClasses.
  static Labels Single(const std::vector<int32_t>& classes);
  // Any number of classes per item, in any order; repetitions count once.
  static Labels Multi(const std::vector<std::vector<int32_t>>& classes);

  Index size() const { return static_cast<Index>(ends_.size()); }
  Index class_count() const { return class_count_; }  // the largest class + 1
  bool single() const { return single_; }             // whether every item has exactly one class

  // The classes of an item, ascending.
  std::span<const int32_t> of(Index item) const;

  // The labels of these items, in this order.
  Labels Select(const std::vector<Index>& items) const;

 private:
  void Add(std::vector<int32_t> classes);

  std::vector<uint64_t> ends_;
  std::vector<int32_t> classes_;
  Index class_count_ = 0;
  bool single_ = true;
};

// Whether two items have a class in common. REQUIRES: both ascending.
bool ShareClass(std::span<const int32_t> a, std::span<const int32_t> b);

}  // namespace bitpool
