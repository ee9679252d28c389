#include "least_rights.h"

#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "bitpool/io/env.h"

namespace bitpool::app {
namespace {

bool IsWanted() {
  const char* setting = std::getenv("BITPOOL_SANDBOX");
  return setting == nullptr || std::string_view(setting) != "off";
}

std::filesystem::path ParentOf(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

}  // namespace

void WriteOnlyTo(std::vector<std::filesystem::path> folders) {
  if (!IsWanted()) return;
  // SQLite keeps what is too large for its memory there, in files without a name.
  std::error_code error;
  folders.push_back(std::filesystem::temp_directory_path(error));
  folders.emplace_back("/var/tmp");
  ConfineWrites(folders);
}

void ForgoOtherRights(Connections connections) {
  if (IsWanted()) ForgoCalls(connections);
}

void KeepLeastRights(const std::vector<std::filesystem::path>& outputs) {
  std::vector<std::filesystem::path> folders;
  for (const std::filesystem::path& output : outputs) {
    if (output.empty()) continue;
    folders.push_back(Env::Posix().IsFolder(output) ? output : ParentOf(output));
  }
  WriteOnlyTo(std::move(folders));
  ForgoOtherRights(Connections::kNone);
}

}  // namespace bitpool::app
