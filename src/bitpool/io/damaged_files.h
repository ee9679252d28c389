#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "bitpool/base/error.h"

// For the tests of readers: every file with one byte changed, and every prefix of it.
namespace bitpool::testing {

// Whether the long form was asked for (BITPOOL_EVERY_DAMAGE=1, `./run attack damage`): every bit of
// every byte. Otherwise three changes of each byte.
inline bool TryEveryDamage() { return std::getenv("BITPOOL_EVERY_DAMAGE") != nullptr; }

// Calls visit(bytes, what) with every damaged form of a file. `step` above 1 leaves bytes out, for
// readers that take long; not in the long form.
template <class Visit>
void ForEachDamage(const std::string& good, const Visit& visit, size_t step = 1) {
  const std::string changes =
      TryEveryDamage() ? "\x01\x02\x04\x08\x10\x20\x40\x80\xff" : "\x01\x80\xff";
  if (TryEveryDamage()) step = 1;
  for (size_t i = 0; i < good.size(); i += step) {
    for (const char change : changes) {
      std::string damaged = good;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      visit(damaged, "byte " + std::to_string(i) + " changed by " +
                         std::to_string(static_cast<unsigned char>(change)));
    }
    visit(good.substr(0, i), "cut to " + std::to_string(i));
  }
  visit(good + '\0', "a byte appended");
}

// As long as this lives, the process gets no more than a gigabyte beyond what it has: a reader that
// believes a damaged size fails instead of filling the machine. Not under the address sanitizer,
// which has reserved all addresses before.
class MemoryLimit {
 public:
  MemoryLimit() {
    getrlimit(RLIMIT_AS, &before_);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (uint64_t{1} << 30);
    setrlimit(RLIMIT_AS, &limit);
#endif
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_ = {};
};

// Checks that `read`, which opens the bytes under the name and uses all that they hold, either
// refuses every damaged form of a file with an error that shows that name or takes it without harm.
// For files without checksums, where most changes give another file of the same kind.
inline void ExpectNoHarm(const std::string& good, const std::string& name,
                         const std::function<void(const std::string& bytes)>& read,
                         size_t step = 1) {
  read(good);
  const MemoryLimit limit;
  ForEachDamage(
      good,
      [&](const std::string& damaged, const std::string& what) {
        try {
          read(damaged);
        } catch (const Error& error) {
          EXPECT_NE(error.code(), ErrorCode::kInternal) << what << ": " << error.what();
          EXPECT_NE(std::string_view(error.what()).find(name), std::string_view::npos)
              << what << ": expected \"" << name << "\" in: " << error.what();
        } catch (const std::exception& error) {
          ADD_FAILURE() << what << ": no error of ours: " << error.what();
        }
      },
      step);
}

}  // namespace bitpool::testing
