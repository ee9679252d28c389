#include "bitpool/serve/named_path.h"

#include "bitpool/catalog/postgres_address.h"

namespace bitpool {
namespace {

// The name of the database in an address.
std::string NameInAddress(const std::string& address) {
  const std::string shown = ShownAddress(address);
  const std::string name = shown.substr(shown.rfind('/') + 1);
  return name.empty() ? "library" : name;
}

}  // namespace

NamedPath ParseNamedPath(Env& env, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != std::string::npos && text.find('/') > equals)
    return {.name = text.substr(0, equals), .path = text.substr(equals + 1)};
  if (IsPostgresAddress(text)) return {.name = NameInAddress(text), .path = text};
  const std::filesystem::path path = env.Canonical(text);
  NamedPath named{.name = path.stem().string(), .path = text};
  if (path.filename() == ".bitpool") named.name = path.parent_path().filename().string();
  return named;
}

}  // namespace bitpool
