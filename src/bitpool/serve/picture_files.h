#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/http/problem.h"
#include "bitpool/serve/served_library.h"

namespace bitpool {

// The picture with this id, as it stands in a path. Throws ProblemError (404).
CataloguedPicture RequirePicture(const ServedLibrary& served, const std::string& id);

// Its file, and the bytes of it. Throws Error.
std::filesystem::path PathOf(const ServedLibrary& served, const CataloguedPicture& picture);
std::vector<std::byte> ReadOriginal(const ServedLibrary& served, const CataloguedPicture& picture);

// What is wrong with a picture, as a client is told. Errors about anything else are passed on.
ProblemError PictureProblem(const Error& error);

// Runs `job` on a picture; what it throws about the picture is the client's problem, not ours. An
// error that names a file is about something else.
template <class Job>
auto AboutPicture(const Job& job) {
  try {
    return job();
  } catch (const Error& error) {
    if (!error.context().empty()) throw;
    throw PictureProblem(error);
  }
}

}  // namespace bitpool
