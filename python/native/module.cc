// The module `bitpool._native`: small, typed, and private to the package, which makes it pleasant
// to use.
#include "bindings.h"
#include "bitpool/version.h"
#include "errors.h"
#include "jobs.h"

PYBIND11_MODULE(_native, module) {
  using namespace bitpool::python;  // NOLINT(google-build-using-namespace): the module is this
  module.doc() = "Bitpool's library, for the package around this module.";
  module.attr("__version__") = bitpool::Version();
  TranslateErrors();
  BindJobs(module);
  BindCodes(module);
  BindIndex(module);
  BindFeatures(module);
  BindMethods(module);
  BindModels(module);
  BindShards(module);
  BindMetrics(module);
  BindPictures(module);
}
