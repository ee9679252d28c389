// The registry of methods, as Python makes classes of it.
#include "bitpool/training/methods.h"

#include <pybind11/stl.h>

#include <cmath>

#include "bindings.h"

namespace bitpool::python {
namespace {

namespace py = pybind11;

py::object ValueOf(OptionType type, double value) {
  if (type == OptionType::kSwitch) return py::bool_(value != 0);
  if (type == OptionType::kWhole) return py::int_(static_cast<int64_t>(value));
  return py::float_(value);
}

py::dict DescribeOption(const OptionDescription& option) {
  py::dict described;
  described["name"] = option.name;
  described["help"] = option.help;
  described["default"] = ValueOf(option.type, option.default_value);
  described["of_pooling"] = option.of_pooling;
  return described;
}

py::dict DescribeMethod(const Method& method) {
  py::list options;
  for (const OptionDescription& option : method.options) options.append(DescribeOption(option));
  py::dict described;
  described["title"] = method.title;
  described["publication"] = method.publication;
  described["learns_from_features"] = method.learns_from == LearnsFrom::kLocalFeatures;
  described["needs_labels"] = method.needs_labels;
  described["needs_views"] = method.needs_views;
  described["learns_from_shards"] = LearnsFromShards(method);
  described["options"] = options;
  described["presets"] = method.presets;
  return described;
}

}  // namespace

void BindMethods(py::module_& module) {
  py::dict methods;
  for (const Method& method : Methods()) methods[py::str(method.name)] = DescribeMethod(method);
  module.attr("METHODS") = methods;
}

}  // namespace bitpool::python
