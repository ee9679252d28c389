#include "interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "session.h"

namespace bitpool::app {

std::stop_token CatchInterrupts() {
  // All threads inherit the blocked signals; one of them waits for them, in ordinary code rather
  // than in a handler.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  static std::stop_source source;
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    Session::Complain("interrupted, ending cleanly (again to end at once)");
    source.request_stop();
    sigwait(&signals, &signal);
    _exit(kExitInterrupted);
  }).detach();
  return source.get_token();
}

}  // namespace bitpool::app
