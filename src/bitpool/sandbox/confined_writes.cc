#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "bitpool/sandbox/sandbox.h"

namespace bitpool {
namespace {

// Newer than the headers of Debian 12.
constexpr uint64_t kTruncate = uint64_t{1} << 14;  // from version 3 on

// The rights that can be granted on a file; the others are about the entries of folders.
constexpr uint64_t kOfFiles = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr uint64_t kWriting =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
    LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;

class Descriptor {
 public:
  explicit Descriptor(long number) : number_(static_cast<int>(number)) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// The write rights that this system knows; 0 where it does not know moves between folders, which
// the first version always forbids and a library needs.
uint64_t KnownRights() {
  const long version =
      syscall(SYS_landlock_create_ruleset, nullptr, size_t{0}, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 2) return 0;
  return version >= 3 ? kWriting | kTruncate : kWriting;
}

bool Allow(int rules, const std::filesystem::path& path, uint64_t rights) {
  const Descriptor place(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status = {};
  if (place.number() < 0 || fstat(place.number(), &status) != 0) return true;  // not there
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = S_ISDIR(status.st_mode) ? rights : rights & kOfFiles;
  rule.parent_fd = place.number();
  return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

}  // namespace

bool ConfineWrites(const std::vector<std::filesystem::path>& folders) {
  const uint64_t rights = KnownRights();
  if (rights == 0) return false;
  landlock_ruleset_attr handled = {};
  handled.handled_access_fs = rights;
  const Descriptor rules(
      syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, uint32_t{0}));
  if (rules.number() < 0 || !Allow(rules.number(), "/dev/null", rights)) return false;
  for (const std::filesystem::path& folder : folders) {
    if (!Allow(rules.number(), folder, rights)) return false;
  }
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_landlock_restrict_self, rules.number(), uint32_t{0}) == 0;
}

}  // namespace bitpool
