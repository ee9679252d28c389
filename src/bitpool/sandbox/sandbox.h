#pragma once

#include <filesystem>
#include <vector>

namespace bitpool {

// Takes from the process, for good, the rights that its job does not need: pictures are strangers'
// bytes, and a mistake in one of their decoders should do as little harm as possible. Both
// functions return false where the system has no such means, and then change nothing.

// From now on this thread, and those it starts, make, change and remove files only in these folders
// and below, and write to /dev/null; folders that are not there are left out. What is open stays
// open, and reading is not touched. Threads that run already keep their rights, so call this before
// a job starts its first. Uses Landlock (Linux 5.19).
bool ConfineWrites(const std::vector<std::filesystem::path>& folders);

enum class Connections {
  kNone,
  kAccepting,  // of a server that already listens: accepts, and begins no connection of its own
};

// From now on no thread of this process starts a program, opens a connection, looks into another
// process or sends it a signal, changes owners or rights of files by name, or times or attributes
// of files, types into the terminal, or asks the system for what only its administrators need: such
// calls fail with EPERM. Uses seccomp.
bool ForgoCalls(Connections connections);

}  // namespace bitpool
