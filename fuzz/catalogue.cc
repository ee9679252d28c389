#include "bitpool/catalog/catalogue.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz.h"

namespace bitpool {
namespace {

// A folder in memory for the file of each input, removed at the end of the process.
class FuzzFolder {
 public:
  FuzzFolder() : path_("/dev/shm/bitpool-fuzz-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~FuzzFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FuzzFolder(const FuzzFolder&) = delete;
  FuzzFolder& operator=(const FuzzFolder&) = delete;

  // A file of these bytes and nothing beside it.
  std::string Write(const uint8_t* data, size_t size) const {
    const std::string file = path_ + "/catalogue";
    for (const char* end : {"", "-wal", "-shm", "-journal"}) unlink((file + end).c_str());
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return file;
  }

 private:
  std::string path_;
};

void ReadAll(const CatalogueSnapshot& snapshot) {
  for (const PictureSet set : {PictureSet::kCurrent, PictureSet::kNext}) {
    snapshot.ForEach(set, [](const CataloguedPicture&) {});
  }
  snapshot.ForEachChange(0, [](uint64_t, std::span<const uint8_t>) {});
  (void)snapshot.CountChanges(1);
  (void)snapshot.FindByPath("a.jpg");
  (void)snapshot.FindById(1);
  (void)snapshot.Count();
  (void)snapshot.FailedCount();
  (void)snapshot.Setting("root");
}

void Change(Catalogue& catalogue) {
  const auto batch = catalogue.StartBatch(PictureSet::kCurrent);
  batch->Put({.path = "a.jpg", .size = 1, .code = {1, 2}, .failure = ""});
  batch->Remove("b.jpg");
  batch->PutSetting("root", "..");
  batch->Commit();
}

}  // namespace
}  // namespace bitpool

// The input is the file of a catalogue.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  static const FuzzFolder folder;
  const std::string file = folder.Write(data, size);
  fuzz::Try([&] { ReadAll(*OpenCatalogue(file, CatalogueAccess::kRead)->Snapshot()); });
  return fuzz::Try([&] {
    const auto catalogue = OpenCatalogue(file, CatalogueAccess::kWrite);
    Change(*catalogue);
    ReadAll(*catalogue->Snapshot());
  });
}
