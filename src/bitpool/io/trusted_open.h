#pragma once

#include <filesystem>

namespace bitpool {

// Opens someone else's regular file for reading, and gives its descriptor. A symbolic link anywhere
// in the path is followed when it belongs to whoever runs the program, to root, or to the owner of
// the file it leads to in the end: nobody who may write into a folder of pictures can make the
// program read, and perhaps serve, what is not theirs. Links to pipes and the like block nothing.
// Throws kNotFound, kResources or kIo with the system's reason, kIo for a link that is not
// followed, and kInvalidArgument for anything but a regular file.
int OpenTrusted(const std::filesystem::path& path);

}  // namespace bitpool
