#pragma once

#include <pybind11/pybind11.h>

// What each file adds to the module `_native`.
namespace bitpool::python {

void BindCodes(pybind11::module_& module);
void BindIndex(pybind11::module_& module);
void BindFeatures(pybind11::module_& module);
void BindMethods(pybind11::module_& module);
void BindModels(pybind11::module_& module);
void BindMetrics(pybind11::module_& module);
void BindPictures(pybind11::module_& module);
void BindShards(pybind11::module_& module);

}  // namespace bitpool::python
