#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/http/message.h"

namespace bitpool {

// A file that was put into the program when it was built (cmake/EmbedFiles.cmake).
struct EmbeddedFile {
  std::string_view path;
  std::string_view bytes;
};
// The files of the page, and the description of the interface as "openapi.json".
std::vector<EmbeddedFile> EmbeddedFiles();

// Small files that never change while the server runs, each ready as it is and compressed.
class StaticFiles {
 public:
  explicit StaticFiles(const std::vector<EmbeddedFile>& files);

  // Whether there is a file at a path such as "/app/main.js"; "/" is index.html.
  bool Has(const std::string& path) const { return Find(path) != nullptr; }
  // REQUIRES: Has(path)
  HttpResponse Answer(const HttpRequest& request, const std::string& path) const;

 private:
  struct File {
    std::string content_type;
    std::string tag;
    HttpResponse::SharedText plain;
    HttpResponse::SharedText compressed;  // null where it would not be smaller
  };
  const File* Find(const std::string& path) const;

  std::map<std::string, File> files_;
};

}  // namespace bitpool
