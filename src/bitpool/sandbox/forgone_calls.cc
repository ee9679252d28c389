#include <asm/ioctls.h>
#include <seccomp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "bitpool/sandbox/sandbox.h"

namespace bitpool {
namespace {

// By name: some are not known on every processor.
constexpr std::array kForgone = {
    // connections
    "socket", "connect", "bind", "listen",
    // programs and other processes
    "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev",
    "process_madvise", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kill", "tkill", "kcmp",
    // files, in ways that Landlock does not see; without fchmod and fchown, by which SQLite gives
    // its log the rights and the owner of its database
    "chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "truncate", "setxattr",
    "fsetxattr", "lsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utime", "utimes",
    "futimesat", "utimensat", "mknod", "mknodat", "open_by_handle_at",
    // who the process is, and where
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset",
    "chroot", "pivot_root", "mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount",
    "unshare", "setns",
    // the kernel
    "bpf", "perf_event_open", "io_uring_setup", "userfaultfd", "keyctl", "add_key", "request_key",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
    "swapon", "swapoff", "acct", "quotactl", "syslog", "settimeofday", "clock_settime", "adjtimex",
    "clock_adjtime", "iopl", "ioperm", "nfsservctl", "vhangup", "lookup_dcookie"};
// Their first argument is a process; one of these is how a program aborts.
constexpr std::array kSignals = {"tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"};
constexpr std::array kAccepting = {"accept", "accept4"};

struct ReleaseFilter {
  void operator()(void* filter) const { seccomp_release(filter); }
};

class Filter {
 public:
  Filter() : filter_(seccomp_init(SCMP_ACT_ALLOW)) {}

  template <class Names>
  bool Forbid(const Names& names) {
    if (!filter_) return false;
    for (const char* name : names) {
      const int call = seccomp_syscall_resolve_name(name);
      if (call == __NR_SCMP_ERROR) continue;  // this libseccomp does not know it
      const int result = seccomp_rule_add(filter_.get(), SCMP_ACT_ERRNO(EPERM), call, 0);
      if (result != 0 && result != -EDOM) return false;  // EDOM: not a call of this processor
    }
    return true;
  }

  bool ForbidSignalsToOthers() {
    const scmp_arg_cmp is_other{
        .arg = 0, .op = SCMP_CMP_NE, .datum_a = static_cast<scmp_datum_t>(getpid()), .datum_b = 0};
    return std::ranges::all_of(kSignals, [&](const char* name) {
      return seccomp_rule_add_array(filter_.get(), SCMP_ACT_ERRNO(EPERM),
                                    seccomp_syscall_resolve_name(name), 1, &is_other) == 0;
    });
  }

  // Characters that are pushed into the terminal run as commands when the program has ended.
  bool ForbidTyping() {
    for (const unsigned request : {TIOCSTI, TIOCLINUX}) {
      // By hand: libseccomp's macro for it is C that Clang does not accept as C++.
      const scmp_arg_cmp is_request{
          .arg = 1, .op = SCMP_CMP_MASKED_EQ, .datum_a = 0xffffffffU, .datum_b = request};
      if (seccomp_rule_add_array(filter_.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                                 &is_request) != 0) {
        return false;
      }
    }
    return true;
  }

  bool Load() {
    return seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
           seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0 &&
           seccomp_load(filter_.get()) == 0;
  }

 private:
  std::unique_ptr<void, ReleaseFilter> filter_;
};

}  // namespace

bool ForgoCalls(Connections connections) {
  Filter filter;
  if (!filter.Forbid(kForgone)) return false;
  if (connections == Connections::kNone && !filter.Forbid(kAccepting)) return false;
  return filter.ForbidSignalsToOthers() && filter.ForbidTyping() && filter.Load();
}

}  // namespace bitpool
