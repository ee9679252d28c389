// Preloaded into the program, with the fork server: makes allocations fail, as if there were no memory.
//
//   MEMORY_AT    which allocation fails, counted from 1; 0: none
//   MEMORY_RATE  after that one, one in this many fails too, at random; 0: only the one
//   MEMORY_SEED  the seed of what is random
//   MEMORY_SHOW  1: standard error gets the stack of each that fails
//   MEMORY_LOG   a file that gets the number of allocations when the process ends
//
// Only our own allocations fail, and those of the C++ library and SQLite on our behalf. GLib ends the process when it gets
// no memory, by design, and with it libvips; VLFeat and oneTBB do not look at what they get.
#define _GNU_SOURCE
#include "fork_server.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_RANGES 32

// The C library's own names for its functions.
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static struct {
  uintptr_t begin, end;
} ours[MAX_RANGES];
static int range_count;
static bool attacking, showing;
static long failing, rate;
static int log_file = -1;
static atomic_long allocations;
static atomic_uint_least64_t random_state;

static int NoteLibrary(struct dl_phdr_info* library, size_t size, void* unused) {
  (void)size;
  (void)unused;
  static const char* const kNames[] = {"libstdc++", "libsqlite3", "libfmt"};
  const bool program = library->dlpi_name[0] == '\0';
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; ++i) {
    if (program ? i > 0 : strstr(library->dlpi_name, kNames[i]) == NULL) continue;
    for (int j = 0; j < library->dlpi_phnum && range_count < MAX_RANGES; ++j) {
      if (library->dlpi_phdr[j].p_type != PT_LOAD) continue;
      ours[range_count].begin = library->dlpi_addr + library->dlpi_phdr[j].p_vaddr;
      ours[range_count].end = ours[range_count].begin + library->dlpi_phdr[j].p_memsz;
      ++range_count;
    }
  }
  return 0;
}

static long Setting(const char* name) {
  const char* value = getenv(name);
  return value == NULL ? 0 : atol(value);
}

// Shows where a process died, or an allocation fails; addr2line tells the names.
static void ShowStack(int number) {
  void* stack[64];
  backtrace_symbols_fd(stack, backtrace(stack, 64), 2);
  if (number == 0) return;
  signal(number, SIG_DFL);
  raise(number);
}

void BeginAttack(void) {
  signal(SIGABRT, ShowStack);
  signal(SIGSEGV, ShowStack);
  dl_iterate_phdr(NoteLibrary, NULL);
  failing = Setting("MEMORY_AT");
  rate = Setting("MEMORY_RATE");
  atomic_store(&random_state, (uint64_t)Setting("MEMORY_SEED"));
  const char* log = getenv("MEMORY_LOG");
  if (log != NULL) log_file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  showing = Setting("MEMORY_SHOW") != 0;
  attacking = log_file >= 0 || failing > 0;
}

// The program ends by this, without running what is registered for the end.
void _Exit(int status) {
  if (log_file >= 0) dprintf(log_file, "%ld\n", atomic_load(&allocations));
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

static bool OneInRate(void) {
  uint64_t mixed = atomic_fetch_add(&random_state, 0x9E3779B97F4A7C15U);
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
  return (mixed ^ (mixed >> 31)) % (uint64_t)rate == 0;
}

static bool Fails(const void* caller) {
  if (!attacking) return false;
  bool is_ours = false;
  for (int i = 0; i < range_count && !is_ours; ++i) {
    is_ours = (uintptr_t)caller >= ours[i].begin && (uintptr_t)caller < ours[i].end;
  }
  if (!is_ours) return false;
  const long number = atomic_fetch_add(&allocations, 1) + 1;
  if (failing == 0 || number < failing) return false;
  if (number > failing && (rate == 0 || !OneInRate())) return false;
  if (showing) ShowStack(0);
  errno = ENOMEM;
  return true;
}

void* malloc(size_t size) { return Fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) {
  return Fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  return Fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}
void* memalign(size_t alignment, size_t size) {
  return Fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return Fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  if (Fails(__builtin_return_address(0))) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory == NULL ? ENOMEM : 0;
}

// operator new, plain, of arrays, aligned and not throwing, by the names that compilers give them.
extern void _ZSt17__throw_bad_allocv(void) __attribute__((noreturn));

static void* New(size_t size, size_t alignment, const void* caller) {
  void* memory = Fails(caller) ? NULL : __libc_memalign(alignment, size);
  if (memory == NULL) _ZSt17__throw_bad_allocv();
  return memory;
}

void* _Znwm(size_t size) { return New(size, 16, __builtin_return_address(0)); }
void* _Znam(size_t size) { return New(size, 16, __builtin_return_address(0)); }
void* _ZnwmSt11align_val_t(size_t size, size_t alignment) {
  return New(size, alignment, __builtin_return_address(0));
}
void* _ZnamSt11align_val_t(size_t size, size_t alignment) {
  return New(size, alignment, __builtin_return_address(0));
}
void* _ZnwmRKSt9nothrow_t(size_t size, const void* nothrow) {
  (void)nothrow;
  return Fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}
