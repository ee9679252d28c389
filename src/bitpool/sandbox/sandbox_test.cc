#include "bitpool/sandbox/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "bitpool/image/decode.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr int kNoMeans = 77;  // the system cannot do it

// Runs `job` in a process of its own, which never gets its rights back, and returns its result.
int InProcess(const std::function<int()>& job) {
  const pid_t child = fork();
  if (child == 0) _exit(job());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ExpectFine(int result) {
  if (result == kNoMeans) GTEST_SKIP() << "this system has no such means";
  EXPECT_EQ(result, 0) << "number of the first check that failed";
}

bool Fails(int error, long result) { return result < 0 && errno == error; }

long OpenToWrite(const fs::path& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
  return file;
}

TEST(ConfineWrites, FilesAreWrittenInsideOnly) {
  const testing::TempFolder folder;
  fs::create_directories(folder / "inside/deep");
  fs::create_directory(folder / "inside/other");
  std::ofstream(folder / "kept") << "text";
  fs::create_symlink(folder / "kept", folder / "inside/out");
  ExpectFine(InProcess([&] {
    const int before = open((folder / "opened").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (!ConfineWrites({folder / "inside", folder / "not there"})) return kNoMeans;
    if (OpenToWrite(folder / "inside/deep/new") < 0) return 1;
    if (OpenToWrite("/dev/null") < 0) return 2;
    if (!Fails(EACCES, OpenToWrite(folder / "new"))) return 3;
    if (!Fails(EACCES, OpenToWrite(folder / "kept"))) return 4;
    if (!Fails(EACCES, OpenToWrite(folder / "inside/out"))) return 5;  // through a link
    if (!Fails(EACCES, unlink((folder / "kept").c_str()))) return 6;
    if (!Fails(EACCES, mkdir((folder / "made").c_str(), 0777))) return 7;
    if (rename((folder / "inside/deep/new").c_str(), (folder / "inside/other/new").c_str()) != 0)
      return 8;
    if (rename((folder / "inside/other/new").c_str(), (folder / "new").c_str()) == 0) return 9;
    if (access((folder / "kept").c_str(), R_OK) != 0) return 10;
    return write(before, "x", 1) == 1 ? 0 : 11;
  }));
  EXPECT_EQ(fs::file_size(folder / "kept"), 4U);
}

TEST(ConfineWrites, ThreadsThatAreStartedLaterAreConfinedToo) {
  const testing::TempFolder folder;
  ExpectFine(InProcess([&] {
    if (!ConfineWrites({})) return kNoMeans;
    int result = 1;
    std::thread([&] { result = Fails(EACCES, OpenToWrite(folder / "new")) ? 0 : 2; }).join();
    return result;
  }));
}

// Files are created without a name and then get one, which is how all of ours are written.
TEST(ConfineWrites, FilesAreReplacedAsAWhole) {
  const testing::TempFolder folder;
  fs::create_directory(folder / "inside");
  ExpectFine(InProcess([&] {
    if (!ConfineWrites({folder / "inside"})) return kNoMeans;
    const std::string text = "text";
    for (const IfExists if_exists : {IfExists::kFail, IfExists::kReplace}) {
      WriteFile(Env::Posix(), folder / "inside/file", std::as_bytes(std::span(text)), if_exists);
    }
    try {
      WriteFile(Env::Posix(), folder / "file", std::as_bytes(std::span(text)), IfExists::kFail);
    } catch (const Error& error) {
      return error.code() == ErrorCode::kIo ? 0 : 2;
    }
    return 1;
  }));
  EXPECT_EQ(fs::file_size(folder / "inside/file"), 4U);
}

TEST(ForgoCalls, WhatAJobOnPicturesDoesNotNeedFails) {
  const testing::TempFolder folder;
  std::ofstream(folder / "file") << "text";
  const fs::path file = folder / "file";
  const pid_t parent = getpid();
  ExpectFine(InProcess([&] {
    bool other_thread_too = false;
    std::stop_source told;
    std::jthread earlier([&] {
      while (!told.stop_requested()) std::this_thread::yield();
      other_thread_too = Fails(EPERM, socket(AF_INET, SOCK_STREAM, 0));
    });
    const bool loaded = ForgoCalls(Connections::kNone);
    told.request_stop();
    earlier.join();
    if (!loaded) return kNoMeans;
    if (!other_thread_too) return 1;
    char* arguments[] = {nullptr};
    if (!Fails(EPERM, socket(AF_INET, SOCK_STREAM, 0))) return 2;
    if (!Fails(EPERM, socket(AF_UNIX, SOCK_STREAM, 0))) return 3;
    if (!Fails(EPERM, execve("/bin/true", arguments, arguments))) return 4;
    if (!Fails(EPERM, ptrace(PTRACE_ATTACH, parent, nullptr, nullptr))) return 5;
    if (!Fails(EPERM, kill(parent, 0))) return 6;
    if (!Fails(EPERM, chmod(file.c_str(), 0777))) return 7;
    if (!Fails(EPERM, truncate(file.c_str(), 0))) return 8;
    const char letter = 'x';
    if (!Fails(EPERM, ioctl(STDIN_FILENO, TIOCSTI, &letter))) return 9;
    if (!Fails(EPERM, accept4(0, nullptr, nullptr, 0))) return 10;
    return OpenToWrite(folder / "new") >= 0 ? 0 : 11;
  }));
  EXPECT_EQ(fs::file_size(file), 4U);
}

TEST(ForgoCalls, SignalsReachOnlyThisProcess) {
  const pid_t parent = getpid();
  ExpectFine(InProcess([&] {
    if (!ForgoCalls(Connections::kNone)) return kNoMeans;
    if (!Fails(EPERM, syscall(SYS_tkill, parent, 0))) return 1;
    if (!Fails(EPERM, syscall(SYS_tgkill, parent, parent, 0))) return 2;
    siginfo_t info = {};
    info.si_code = SI_QUEUE;
    if (!Fails(EPERM, syscall(SYS_rt_sigqueueinfo, parent, SIGCONT, &info))) return 3;
    if (!Fails(EPERM, syscall(SYS_rt_tgsigqueueinfo, parent, parent, SIGCONT, &info))) return 4;
    std::signal(SIGUSR1, SIG_IGN);
    return std::raise(SIGUSR1) == 0 ? 0 : 5;
  }));
  EXPECT_EQ(InProcess([] {
              ForgoCalls(Connections::kNone);
              std::abort();
              return 0;
            }),
            128 + SIGABRT);
}

TEST(ForgoCalls, TimesAndAttributesOfFilesStay) {
  const testing::TempFolder folder;
  std::ofstream(folder / "file") << "text";
  ExpectFine(InProcess([&] {
    if (!ForgoCalls(Connections::kNone)) return kNoMeans;
    const int file = open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC);
    if (!Fails(EPERM, futimens(file, nullptr))) return 1;
    if (!Fails(EPERM, utimensat(AT_FDCWD, (folder / "file").c_str(), nullptr, 0))) return 2;
    if (!Fails(EPERM, fsetxattr(file, "user.x", "x", 1, 0))) return 3;
    return Fails(EPERM, fremovexattr(file, "user.x")) ? 0 : 4;
  }));
}

TEST(ForgoCalls, AServerAcceptsAndConnectsNowhere) {
  ExpectFine(InProcess([] {
    const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const sockaddr address = {.sa_family = AF_UNIX, .sa_data = {}};
    if (bind(listening, &address, sizeof(sa_family_t)) != 0 || listen(listening, 1) != 0) return 1;
    if (!ForgoCalls(Connections::kAccepting)) return kNoMeans;
    if (!Fails(EAGAIN, accept4(listening, nullptr, nullptr, 0))) return 2;
    if (!Fails(EPERM, connect(listening, &address, sizeof address))) return 3;
    return Fails(EPERM, socket(AF_INET, SOCK_STREAM, 0)) ? 0 : 4;
  }));
}

// In a process that has not decoded before, so that libvips, too, starts inside the sandbox.
TEST(Sandbox, EveryFormatIsDecodedInIt) {
  const fs::path pictures = fs::path(BITPOOL_SOURCE_DIR) / "tests/golden/formats";
  int decoded = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(pictures)) {
    SCOPED_TRACE(entry.path());
    const std::vector<std::byte> bytes = Env::Posix().Read(entry.path(), 1 << 20);
    ExpectFine(InProcess([&] {
      if (!ConfineWrites({}) || !ForgoCalls(Connections::kNone)) return kNoMeans;
      try {
        const Picture picture = DecodePicture(bytes, {});
        return picture.width == 48 && picture.height == 32 ? 0 : 2;
      } catch (const Error& error) {
        return error.code() == ErrorCode::kUnsupported ? kNoMeans : 1;
      }
    }));
    ++decoded;
  }
  EXPECT_EQ(decoded, 7);
}

}  // namespace
}  // namespace bitpool
