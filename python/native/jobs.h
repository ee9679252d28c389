#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "bitpool/base/run_context.h"

// How long calls run while Python goes on.
namespace bitpool::python {

namespace py = pybind11;

// What a caller says about the running of a job.
struct RunRequest {
  int threads = 0;  // 0: as many as the process may use
  uint64_t seed = 1;
  py::object progress = py::none();  // a function of (task, unit, done, total, ended, note)
};

// Runs a job on a thread of its own, without the GIL, while this one looks for Ctrl-C and tells
// Python about progress, some twenty times a second. What the job throws is thrown from here. An
// exception from Python meanwhile asks the job to stop; it is returned once the job has ended, so
// that what the job saved can be kept before it is raised. The job may then end in any way.
py::object RunWatched(const RunRequest& request, const std::function<void(const RunContext&)>& job);

// The same for jobs with nothing to keep: the exception is raised.
template <class Job>
auto RunToTheEnd(const RunRequest& request, const Job& job) {
  std::optional<decltype(job(std::declval<const RunContext&>()))> result;
  const py::object interruption =
      RunWatched(request, [&](const RunContext& context) { result.emplace(job(context)); });
  if (!interruption.is_none()) {
    PyErr_SetObject(py::type::handle_of(interruption).ptr(), interruption.ptr());
    throw py::error_already_set();
  }
  return std::move(*result);
}

// For jobs of microseconds: a context that is kept, and that nobody watches.
RunContext BriefContext(int threads);

// A number that changes with every fork: threads that were there before are not there after it.
uint64_t ForkGeneration();

void BindJobs(py::module_& module);

}  // namespace bitpool::python
