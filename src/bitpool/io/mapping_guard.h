#pragma once

#include <cstddef>
#include <span>
#include <string>

// Mapped files, read safely even when somebody else makes them shorter meanwhile. Touching a page
// that is gone raises SIGBUS, which would end the process. The handler that is installed here puts
// zeros in place of what is gone and notes it: reading goes on, at no cost, and code that gives out
// what was read asks whether the file was whole. A SIGBUS from anything else goes to the handler
// that was there before.
namespace bitpool {

// Takes over a mapping of a whole file, and the descriptor of that file. `name` is for errors.
void GuardMapping(std::string name, int descriptor, void* data, size_t length);
// Unmaps it. A cut that nobody was told of is left for RequireMappedFilesWhole.
void EndMapping(void* data) noexcept;

// Throws kIo, and names the file, when these bytes are of a mapped file that was cut off since it
// was mapped, wherever it was. To be called after reading, before what was read is given out.
void RequireWhole(std::span<const std::byte> bytes);

// The same for all mapped files, and for those that were cut off and closed before anybody was
// told. Called before anything is written or shown, since it may have been made from zeros.
void RequireMappedFilesWhole();

}  // namespace bitpool
