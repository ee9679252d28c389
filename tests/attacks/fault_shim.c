// Preloaded into the program, with the fork server: counts the file operations under one folder, those of SQLite and
// libvips among them, and makes one of them fail, or the process die there.
//
//   FAULT_FOLDER  the folder; operations elsewhere are left alone
//   FAULT_AT      which operation, counted from 1; 0: none
//   FAULT_ERROR   which of the operation's errors (they are listed below), from 0; "kill": SIGKILL instead
//                 "cut": the FAULT_AT-th file that is mapped to be read is cut to FAULT_PERCENT of its length
//   FAULT_STAYS   set: all operations of its kind after it fail, too, as on a disk that is full or broken
//   FAULT_NAMED   set: the file system has no files without a name, as vfat and NFS have none
//   FAULT_LOG     a file that gets a line for each operation, or, with FAULT_AT, for those that failed
#define _GNU_SOURCE
#include "fork_server.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIST_END 0
#define MAX_DESCRIPTORS 4096

// The errors that each kind of operation can have.
typedef struct {
  const char* name;
  int errors[4];
} Kind;

static const Kind kOpen = {"open", {EACCES, EIO, EMFILE, LIST_END}};
static const Kind kCreate = {"create", {ENOSPC, EACCES, EIO, LIST_END}};
static const Kind kRead = {"read", {EIO, LIST_END}};
static const Kind kWrite = {"write", {ENOSPC, EIO, LIST_END}};
static const Kind kSync = {"sync", {EIO, ENOSPC, LIST_END}};
static const Kind kRename = {"rename", {EIO, ENOSPC, EACCES, LIST_END}};
static const Kind kLink = {"link", {EIO, ENOSPC, EACCES, LIST_END}};
static const Kind kRemove = {"remove", {EACCES, EIO, LIST_END}};
static const Kind kMap = {"map", {ENOMEM, EACCES, LIST_END}};
static const Kind kResize = {"resize", {EIO, ENOSPC, LIST_END}};
static const Kind kStatus = {"status", {EACCES, EIO, LIST_END}};
static const Kind kMakeFolder = {"mkdir", {ENOSPC, EACCES, LIST_END}};
static const Kind kList = {"list", {EIO, EACCES, LIST_END}};
static const Kind kLock = {"lock", {ENOLCK, EIO, LIST_END}};

static char folder[PATH_MAX];
static size_t folder_length;
static long failing;
static bool killing;
static bool cutting;
static int cut_percent;
static bool stays;
static bool named;
static int chosen_error;
static int log_file = -1;
static atomic_long operations;
static const Kind* _Atomic failed_kind;
static atomic_bool watched[MAX_DESCRIPTORS];

void BeginAttack(void) {
  const char* name = getenv("FAULT_FOLDER");
  if (name == NULL) return;
  snprintf(folder, sizeof folder, "%s", name);
  const char* at = getenv("FAULT_AT");
  failing = at == NULL ? 0 : atol(at);
  const char* error = getenv("FAULT_ERROR");
  killing = error != NULL && strcmp(error, "kill") == 0;
  cutting = error != NULL && strcmp(error, "cut") == 0;
  const char* percent = getenv("FAULT_PERCENT");
  cut_percent = percent == NULL ? 0 : atoi(percent);
  chosen_error = error == NULL || killing ? 0 : atoi(error);
  stays = getenv("FAULT_STAYS") != NULL;
  named = getenv("FAULT_NAMED") != NULL;
  const char* log = getenv("FAULT_LOG");
  if (log != NULL) log_file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  folder_length = strlen(folder);
}

static bool IsInside(int base, const char* path) {
  if (folder_length == 0 || path == NULL) return false;
  char absolute[2 * PATH_MAX];
  if (path[0] != '/') {
    char start[PATH_MAX];
    if (base == AT_FDCWD) {
      if (getcwd(start, sizeof start) == NULL) return false;
    } else {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", base);
      const long length = syscall(SYS_readlinkat, AT_FDCWD, link, start, sizeof start - 1);
      if (length < 0) return false;
      start[length] = '\0';
    }
    snprintf(absolute, sizeof absolute, "%s/%s", start, path);
    path = absolute;
  }
  return strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == '\0');
}

static bool IsWatched(int descriptor) {
  return descriptor >= 0 && descriptor < MAX_DESCRIPTORS && atomic_load(&watched[descriptor]);
}

static int Watch(int descriptor, bool inside) {
  if (descriptor >= 0 && descriptor < MAX_DESCRIPTORS) atomic_store(&watched[descriptor], inside);
  return descriptor;
}

static void Log(long number, const Kind* kind, const char* path, int error) {
  if (log_file < 0) return;
  char line[PATH_MAX + 128];
  const int length = snprintf(line, sizeof line, "%ld %s %d %s\n", number, kind->name, error, path == NULL ? "-" : path);
  syscall(SYS_write, log_file, line, (size_t)length);
}

// The error that this operation is to have; 0: none.
static int Fault(const Kind* kind, const char* path) {
  const long number = atomic_fetch_add(&operations, 1) + 1;
  const bool again = stays && atomic_load(&failed_kind) == kind && !killing;
  if (cutting || (number != failing && !again)) {
    if (failing == 0) {
      int count = 0;
      while (kind->errors[count] != LIST_END) ++count;
      Log(number, kind, path, count);
    }
    return 0;
  }
  int count = 0;
  while (kind->errors[count] != LIST_END) ++count;
  const int error = kind->errors[chosen_error % count];
  Log(number, kind, path, error);
  if (killing) syscall(SYS_kill, getpid(), SIGKILL);
  atomic_store(&failed_kind, kind);
  return error;
}

// Leaves the function with the error of `kind` where this operation is to fail.
#define MAY_FAIL(inside, kind, path, failure)    \
  do {                                           \
    if (inside) {                                \
      const int error = Fault(&(kind), (path));  \
      if (error != 0) {                          \
        errno = error;                           \
        return failure;                          \
      }                                          \
    }                                            \
  } while (0)

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int OpenAt(int base, const char* path, int flags, mode_t mode) {
  const bool inside = IsInside(base, path);
  const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
  if (inside && nameless && named) {
    errno = EOPNOTSUPP;
    return -1;
  }
  if ((flags & O_CREAT) != 0 || nameless) {
    MAY_FAIL(inside, kCreate, path, -1);
  } else {
    MAY_FAIL(inside, kOpen, path, -1);
  }
  return Watch((int)syscall(SYS_openat, base, path, flags, mode), inside);
}

static mode_t ModeOf(int flags, va_list list) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

#define DEFINE_OPEN(name)                              \
  int name(const char* path, int flags, ...) {         \
    va_list list;                                      \
    va_start(list, flags);                             \
    const mode_t mode = ModeOf(flags, list);           \
    va_end(list);                                      \
    return OpenAt(AT_FDCWD, path, flags, mode);        \
  }
#define DEFINE_OPENAT(name)                            \
  int name(int base, const char* path, int flags, ...) { \
    va_list list;                                      \
    va_start(list, flags);                             \
    const mode_t mode = ModeOf(flags, list);           \
    va_end(list);                                      \
    return OpenAt(base, path, flags, mode);            \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

// The C library has no function for openat2, by which pictures are opened; whoever wants it comes through here, as do the
// shim's own calls, which are passed on. No system call has more than six arguments; those that were not given are not looked at.
long syscall(long number, ...) {
  static __typeof__(&syscall) _Atomic real;
  if (real == NULL) real = REAL(syscall);
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) arguments[i] = va_arg(list, long);
  va_end(list);
  bool inside = false;
  if (number == SYS_openat2) {
    const char* path = (const char*)arguments[1];
    inside = IsInside((int)arguments[0], path);
    MAY_FAIL(inside, kOpen, path, -1);  // of its uses, only reading
  }
  const long result = real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  return number == SYS_openat2 ? Watch((int)result, inside) : result;
}

int close(int descriptor) {
  Watch(descriptor, false);
  return (int)syscall(SYS_close, descriptor);
}

ssize_t read(int descriptor, void* bytes, size_t count) {
  MAY_FAIL(IsWatched(descriptor), kRead, NULL, -1);
  return syscall(SYS_read, descriptor, bytes, count);
}

ssize_t pread(int descriptor, void* bytes, size_t count, off_t offset) {
  MAY_FAIL(IsWatched(descriptor), kRead, NULL, -1);
  return syscall(SYS_pread64, descriptor, bytes, count, offset);
}
ssize_t pread64(int descriptor, void* bytes, size_t count, off_t offset) {
  return pread(descriptor, bytes, count, offset);
}

// A write that fails has written half of its bytes.
ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (IsWatched(descriptor)) {
    const int error = Fault(&kWrite, NULL);
    if (error != 0) {
      syscall(SYS_write, descriptor, bytes, count / 2);
      errno = error;
      return -1;
    }
  }
  return syscall(SYS_write, descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (IsWatched(descriptor)) {
    const int error = Fault(&kWrite, NULL);
    if (error != 0) {
      syscall(SYS_pwrite64, descriptor, bytes, count / 2, offset);
      errno = error;
      return -1;
    }
  }
  return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

int fsync(int descriptor) {
  MAY_FAIL(IsWatched(descriptor), kSync, NULL, -1);
  return (int)syscall(SYS_fsync, descriptor);
}
int fdatasync(int descriptor) {
  MAY_FAIL(IsWatched(descriptor), kSync, NULL, -1);
  return (int)syscall(SYS_fdatasync, descriptor);
}

int ftruncate(int descriptor, off_t length) {
  MAY_FAIL(IsWatched(descriptor), kResize, NULL, -1);
  return (int)syscall(SYS_ftruncate, descriptor, length);
}
int ftruncate64(int descriptor, off_t length) { return ftruncate(descriptor, length); }

int rename(const char* from, const char* to) {
  MAY_FAIL(IsInside(AT_FDCWD, to), kRename, to, -1);
  return (int)syscall(SYS_rename, from, to);
}
int renameat2(int from_base, const char* from, int to_base, const char* to, unsigned flags) {
  MAY_FAIL(IsInside(to_base, to), kRename, to, -1);
  return (int)syscall(SYS_renameat2, from_base, from, to_base, to, flags);
}

int linkat(int from_base, const char* from, int to_base, const char* to, int flags) {
  MAY_FAIL(IsInside(to_base, to), kLink, to, -1);
  return (int)syscall(SYS_linkat, from_base, from, to_base, to, flags);
}

int unlink(const char* path) {
  MAY_FAIL(IsInside(AT_FDCWD, path), kRemove, path, -1);
  return (int)syscall(SYS_unlink, path);
}
int unlinkat(int base, const char* path, int flags) {
  MAY_FAIL(IsInside(base, path), kRemove, path, -1);
  return (int)syscall(SYS_unlinkat, base, path, flags);
}
int rmdir(const char* path) {
  MAY_FAIL(IsInside(AT_FDCWD, path), kRemove, path, -1);
  return (int)syscall(SYS_rmdir, path);
}
int mkdir(const char* path, mode_t mode) {
  MAY_FAIL(IsInside(AT_FDCWD, path), kMakeFolder, path, -1);
  return (int)syscall(SYS_mkdir, path, mode);
}

// Someone else shortens a file that has just been mapped.
static void CutMapped(int descriptor, size_t length) {
  static atomic_long maps;
  if (atomic_fetch_add(&maps, 1) + 1 != failing) return;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, link, O_WRONLY | O_CLOEXEC, 0);
  syscall(SYS_ftruncate, file, (off_t)(length * (size_t)cut_percent / 100));
  syscall(SYS_close, file);
  Log(failing, &kMap, NULL, cut_percent);
}

void* mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  MAY_FAIL(IsWatched(descriptor), kMap, NULL, MAP_FAILED);
  void* mapped = (void*)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
  if (IsWatched(descriptor) && protection == PROT_READ && cutting) CutMapped(descriptor, length);
  return mapped;
}
void* mmap64(void* address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  return mmap(address, length, protection, flags, descriptor, offset);
}

// Of its many uses, only the locks that SQLite takes.
#define DEFINE_FCNTL(name)                                                        \
  int name(int descriptor, int command, ...) {                                    \
    va_list list;                                                                 \
    va_start(list, command);                                                      \
    void* argument = va_arg(list, void*);                                         \
    va_end(list);                                                                 \
    MAY_FAIL(command == F_SETLK && IsWatched(descriptor), kLock, NULL, -1);       \
    return (int)syscall(SYS_fcntl, descriptor, command, argument);                \
  }
DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

int flock(int descriptor, int operation) {
  MAY_FAIL(IsWatched(descriptor), kLock, NULL, -1);
  return (int)syscall(SYS_flock, descriptor, operation);
}

#define DEFINE_STATUS(name, type)                                 \
  int name(const char* path, struct type* status) {               \
    MAY_FAIL(IsInside(AT_FDCWD, path), kStatus, path, -1);        \
    return REAL(name)(path, status);                              \
  }
#define DEFINE_FSTATUS(name, type)                                \
  int name(int descriptor, struct type* status) {                 \
    MAY_FAIL(IsWatched(descriptor), kStatus, NULL, -1);           \
    return REAL(name)(descriptor, status);                        \
  }
DEFINE_STATUS(stat, stat)
DEFINE_STATUS(stat64, stat64)
DEFINE_STATUS(lstat, stat)
DEFINE_STATUS(lstat64, stat64)
DEFINE_FSTATUS(fstat, stat)
DEFINE_FSTATUS(fstat64, stat64)

int access(const char* path, int mode) {
  MAY_FAIL(IsInside(AT_FDCWD, path), kStatus, path, -1);
  return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

// The folder's own descriptor is opened inside the C library; it is watched for `readdir`.
DIR* opendir(const char* path) {
  const bool inside = IsInside(AT_FDCWD, path);
  MAY_FAIL(inside, kList, path, NULL);
  DIR* opened = REAL(opendir)(path);
  if (opened != NULL) Watch(dirfd(opened), inside);
  return opened;
}
int closedir(DIR* opened) {
  Watch(dirfd(opened), false);
  return REAL(closedir)(opened);
}
struct dirent* readdir(DIR* opened) {
  MAY_FAIL(IsWatched(dirfd(opened)), kList, NULL, NULL);
  return REAL(readdir)(opened);
}
struct dirent64* readdir64(DIR* opened) {
  MAY_FAIL(IsWatched(dirfd(opened)), kList, NULL, NULL);
  return REAL(readdir64)(opened);
}
