#include "interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "session.h"

namespace bitpool::app {
namespace {

// A handler may do little more than write here; a thread reads and does the rest in ordinary code.
// Blocking the signals and waiting for them would not do: libraries start threads before main, and
// a signal that one of those does not block ends the process.
int notices[2];

void Notice(int /*signal*/) {
  const int error = errno;
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(notices[1], &byte, 1);
  errno = error;
}

void WaitForNotice() {
  char byte = 0;
  while (read(notices[0], &byte, 1) != 1) {
  }
}

void Catch(int signal) {
  struct sigaction action = {};
  sigaction(signal, nullptr, &action);
  // A shell starts background jobs with SIGINT ignored, and means it.
  if (action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = Notice;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

std::stop_token CatchInterrupts() {
  static std::stop_source source;
  if (pipe2(notices, O_CLOEXEC) != 0) return source.get_token();  // signals end the process then
  std::thread([] {
    WaitForNotice();
    Session::Complain("interrupted, ending cleanly (again to end at once)");
    source.request_stop();
    WaitForNotice();
    _exit(kExitInterrupted);
  }).detach();
  Catch(SIGINT);
  Catch(SIGTERM);
  return source.get_token();
}

}  // namespace bitpool::app
