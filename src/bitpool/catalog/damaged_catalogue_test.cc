#include <fstream>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/catalog/catalogue_testing.h"
#include "bitpool/io/damaged_files.h"
#include "bitpool/io/env.h"
#include "bitpool/io/testing.h"

// SQLite has no checksums: a damaged file that is still a database may hold other records, but must
// do nothing worse.
namespace bitpool {
namespace {

using testing::All;
using testing::ExpectNoHarm;
using testing::MakePicture;

std::string ReadFile(const std::filesystem::path& path) {
  return testing::ToString(Env::Posix().Read(path, uint64_t{1} << 20));
}

void ReadAll(const CatalogueSnapshot& snapshot) {
  for (const PictureSet set : {PictureSet::kCurrent, PictureSet::kNext}) All(snapshot, set);
  snapshot.ForEachChange(0, [](uint64_t, std::span<const uint8_t>) {});
  (void)snapshot.CountChanges(0);
  (void)snapshot.FindByPath("folder/1.jpg");
  (void)snapshot.FindById(2);
  (void)snapshot.Count();
  (void)snapshot.FailedCount();
  (void)snapshot.Setting("root");
}

// In memory where there is such a place, because SQLite syncs.
class ShmFolder {
 public:
  ShmFolder() : path_("/dev/shm/bitpool-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) path_ = fallback_.path();
  }
  ~ShmFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(std::string_view name) const {
    return std::filesystem::path(path_) / name;
  }

 private:
  const testing::TempFolder fallback_;
  std::string path_;
};

TEST(DamagedCatalogue, EveryByteAndEveryLength) {
  const ShmFolder folder;
  {
    const auto catalogue = OpenCatalogue(folder / "good", CatalogueAccess::kCreate);
    for (int i = 0; i < 3; ++i)
      testing::PutOne(*catalogue, MakePicture("folder/" + std::to_string(i) + ".jpg", i));
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->Remove("folder/0.jpg");
    batch->PutSetting("root", "..");
    batch->Commit();
  }
  const std::string good = ReadFile(folder / "good");
  const std::filesystem::path file = folder / "catalogue.sqlite";
  const auto write = [&](const std::string& bytes) {
    for (const char* end : {"", "-wal", "-shm", "-journal"})
      std::filesystem::remove(file.string() + end);
    std::ofstream(file, std::ios::binary) << bytes;
  };
  const auto read = [&](const std::string& bytes) {
    write(bytes);
    ReadAll(*OpenCatalogue(file, CatalogueAccess::kRead)->Snapshot());
  };
  const auto change = [&](const std::string& bytes) {
    write(bytes);
    const auto catalogue = OpenCatalogue(file, CatalogueAccess::kWrite);
    testing::PutOne(*catalogue, MakePicture("new.jpg", 9));
    ReadAll(*catalogue->Snapshot());
  };
  // Most of a page of SQLite is empty: a prime step reaches every field of a record in some page.
  ExpectNoHarm(good, "catalogue.sqlite", read, 101);
  ExpectNoHarm(good, "catalogue.sqlite", change, 211);
}

}  // namespace
}  // namespace bitpool
