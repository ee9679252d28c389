#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace bitpool {

// Bytes at an address that vector registers like, in large pages where the system gives them: a
// scan then waits less for address translation. Not initialised.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size = 0);

  size_t size() const { return size_; }
  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  std::span<const uint8_t> bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(uint8_t* data) const;
  };
  size_t size_;
  std::unique_ptr<uint8_t, Free> data_;
};

}  // namespace bitpool
