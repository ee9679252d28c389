#include "bitpool/serve/service_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/http/problem.h"
#include "bitpool/serve/parameters.h"

namespace bitpool {
namespace {

[[noreturn]] void NoSuch(const char* what, const std::string& name) {
  throw ProblemError(404, "not_found", fmt::format("there is no {} \"{}\"", what, name));
}

}  // namespace

ServedLibrary& ServiceState::Library(const std::string& name) const {
  const auto found =
      std::ranges::find(libraries, name, [](const auto& one) { return one->name(); });
  if (found == libraries.end()) NoSuch("library", name);
  return **found;
}

ServedIndex& ServiceState::Index(const std::string& name) const {
  const auto found = std::ranges::find(indexes, name, [](const auto& one) { return one->name(); });
  if (found == indexes.end()) NoSuch("index", name);
  return **found;
}

const ServedModel& ServiceState::Model(const std::string& name) const {
  const auto found = std::ranges::find(models, name, &ServedModel::name);
  if (found == models.end()) NoSuch("model", name);
  return *found;
}

int64_t LimitParameter(const RequestTarget& target) {
  constexpr int64_t kUsual = 100;
  return NumberParameter(target, "limit", {.least = 1, .most = kMostPerPage}).value_or(kUsual);
}

}  // namespace bitpool
