#include "bitpool/dataset/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr int kPollMilliseconds = 100;
constexpr size_t kKeptBytes = 4096;

// A child process whose output is read until it ends. Killed when this is destroyed first.
class Child {
 public:
  Child(const std::vector<std::string>& command, const std::filesystem::path& folder) {
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ErrorCode::kResources, "cannot make a pipe");
    output_ = ends[0];
    const int error = Spawn(command, folder, ends[1]);
    close(ends[1]);
    if (error != 0) {
      close(output_);
      throw Error(
          error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
          fmt::format("cannot run {}: {}", command[0], std::generic_category().message(error)));
    }
  }
  ~Child() {
    close(output_);
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Reads what the child prints and keeps the end of it; false when it has closed its output.
  bool ReadSome(std::string& kept) const {
    pollfd poll_for = {.fd = output_, .events = POLLIN, .revents = 0};
    if (poll(&poll_for, 1, kPollMilliseconds) <= 0) return true;
    std::array<char, 1024> buffer = {};
    const ssize_t count = read(output_, buffer.data(), buffer.size());
    if (count < 0) return errno == EINTR;
    kept.append(buffer.data(), static_cast<size_t>(count));
    if (kept.size() > kKeptBytes) kept.erase(0, kept.size() - kKeptBytes);
    return count > 0;
  }

  // Waits for the end; the exit status, or −1 when a signal ended it.
  int Wait() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  // Returns 0 or an errno.
  int Spawn(const std::vector<std::string>& command, const std::filesystem::path& folder,
            int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    sigset_t none;  // the caller may have blocked signals in its threads; the child starts without
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& argument : command)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const int error =
        posix_spawnp(&id_, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }

  pid_t id_ = 0;
  int output_ = -1;
};

std::string_view LastLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  const size_t line_start = text.rfind('\n');
  return line_start == std::string_view::npos ? text : text.substr(line_start + 1);
}

}  // namespace

void RunProgram(const std::vector<std::string>& command, const std::filesystem::path& folder,
                const RunContext& context) {
  Child child(command, folder);
  std::string printed;
  while (child.ReadSome(printed)) context.ThrowIfStopped();
  const int status = child.Wait();
  if (status == 0) return;
  throw Error(ErrorCode::kIo,
              fmt::format("{} {} failed with status {}: {}", command[0],
                          command.size() > 1 ? command[1] : "", status, LastLine(printed)));
}

}  // namespace bitpool
