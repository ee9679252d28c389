// Preloaded into the program: waits before `main` for requests, and answers each by a fork that runs the program with
// other arguments. Most of the time of a short run is spent on loading libraries; this does it once for thousands of runs.
//
// A request on standard input: its length (4 bytes), then strings that end in NUL: settings of the environment, an empty
// string, and the arguments. The answer on standard output: the process (4 bytes) at once, its wait status (4 bytes) later.
#define _GNU_SOURCE
#include "fork_server.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_REQUEST 65536
#define MAX_ARGUMENTS 256

typedef int (*Main)(int, char**, char**);

static Main program_main;

// System calls, since the functions of the C library may be part of the attack.
static bool Receive(void* bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    const long got = syscall(SYS_read, 0, (char*)bytes + done, count - done);
    if (got <= 0) return false;
    done += (size_t)got;
  }
  return true;
}

static void Send(int32_t number) { syscall(SYS_write, 1, &number, sizeof number); }

static void Redirect(int descriptor, const char* setting, int flags) {
  const char* path = getenv(setting);
  const long file = syscall(SYS_openat, AT_FDCWD, path == NULL ? "/dev/null" : path, flags, 0600);
  syscall(SYS_dup3, file, descriptor, 0);
  syscall(SYS_close, file);
}

static int RunProgram(char* name, char* request, size_t length, char** environment) {
  char* arguments[MAX_ARGUMENTS] = {name};
  int count = 1;
  bool settings = true;
  for (char* word = request; word < request + length; word += strlen(word) + 1) {
    if (settings && *word == '\0') {
      settings = false;
    } else if (settings) {
      putenv(word);
    } else if (count + 1 < MAX_ARGUMENTS) {
      arguments[count++] = word;
    }
  }
  Redirect(0, "", O_RDONLY);
  Redirect(1, "ATTACK_OUT", O_WRONLY | O_CREAT | O_TRUNC);
  Redirect(2, "ATTACK_ERRORS", O_WRONLY | O_CREAT | O_TRUNC);
  BeginAttack();
  return program_main(count, arguments, environment);
}

static int Serve(int count, char** arguments, char** environment) {
  (void)count;
  static char request[MAX_REQUEST + 1];
  uint32_t length = 0;
  while (Receive(&length, sizeof length) && length <= MAX_REQUEST && Receive(request, length)) {
    const pid_t process = fork();
    if (process == 0) return RunProgram(arguments[0], request, length, environment);
    Send(process);
    int status = 0;
    waitpid(process, &status, 0);
    Send(status);
  }
  syscall(SYS_exit_group, 0);
  return 0;
}

int __libc_start_main(Main main, int count, char** arguments, void (*begin)(void), void (*end)(void),
                      void (*loader_end)(void), void* stack_end) {
  __typeof__(&__libc_start_main) real = (__typeof__(real))dlsym(RTLD_NEXT, "__libc_start_main");
  program_main = main;
  return real(Serve, count, arguments, begin, end, loader_end, stack_end);
}
