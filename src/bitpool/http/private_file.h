#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace bitpool {

// Throws kInvalidArgument when users besides the owner and the group have one of these rights to a
// file; `what` says what they could do. A file that is not there passes: reading it says so.
void RequirePrivate(const std::string& file, std::filesystem::perms others, std::string_view what);

// Files that the process makes while this exists belong to their owner alone. Concerns all threads,
// so it is for the start of a program.
class OnlyForOwner {
 public:
  OnlyForOwner() : before_(umask(077)) {}
  ~OnlyForOwner() { umask(before_); }
  OnlyForOwner(const OnlyForOwner&) = delete;
  OnlyForOwner& operator=(const OnlyForOwner&) = delete;

 private:
  mode_t before_;
};

}  // namespace bitpool
