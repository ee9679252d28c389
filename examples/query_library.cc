// Indexes a folder of pictures, asks it with one, and looks for duplicates.
//   query_library FOLDER PICTURE
#include <bitpool/library.h>

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: query_library FOLDER PICTURE\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  try {
    bitpool::Library library = bitpool::Library::OpenOrCreate(folder / ".bitpool", folder);
    const bitpool::UpdateReport update = library.Update();
    std::printf("%zu pictures, %zu new\n", library.size(), static_cast<std::size_t>(update.added));

    for (const bitpool::Match& match : library.Query(std::filesystem::path(argv[2]), 5)) {
      std::printf("%8.3f  %s\n", match.score, match.path.c_str());
    }
    for (const bitpool::PictureGroup& group : library.Duplicates()) {
      std::printf("keep %s of %zu copies: %s\n", group.pictures.front().path.c_str(),
                  group.pictures.size(), group.reason.c_str());
    }
  } catch (const bitpool::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
