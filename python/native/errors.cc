#include "errors.h"

#include <pybind11/pybind11.h>

#include <exception>
#include <string>

#include "bitpool/base/error.h"

namespace bitpool::python {
namespace {

namespace py = pybind11;

void RaiseInPython(const Error& error) {
  const py::object instance =
      py::module_::import("bitpool._errors")
          .attr("error_of")(std::string(ErrorCodeName(error.code())), std::string(error.what()));
  PyErr_SetObject(py::type::handle_of(instance).ptr(), instance.ptr());
}

}  // namespace

void TranslateErrors() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      RaiseInPython(error);
    }
  });
}

}  // namespace bitpool::python
