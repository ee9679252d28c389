// What the calls that python_peers.py makes from Python take from C++: the same library, without
// Python.
//   python_border encode MODEL VECTORS TIMES
//   python_border search INDEX QUERIES BITS K TIMES
// prints the least seconds and the least processor seconds of this many calls.
#include <bitpool/bitpool.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

// The numbers of an .npy file of version 1 whose shape is (n, dimension); written by the script.
std::vector<float> ReadNpy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(8);
  unsigned char length[2];
  file.read(reinterpret_cast<char*>(length), 2);
  const std::size_t header = 10 + length[0] + 256U * length[1];
  std::vector<float> numbers((std::filesystem::file_size(path) - header) / sizeof(float));
  file.seekg(static_cast<std::streamoff>(header));
  file.read(reinterpret_cast<char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(float)));
  return numbers;
}

void Time(int times, const std::function<void()>& call) {
  double wall = std::numeric_limits<double>::infinity(), processor = wall;
  for (int i = 0; i < times; ++i) {
    const auto began = std::chrono::steady_clock::now();
    const std::clock_t began_processor = std::clock();
    call();
    processor =
        std::min(processor, static_cast<double>(std::clock() - began_processor) / CLOCKS_PER_SEC);
    wall = std::min(
        wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  std::printf("%.9f %.9f\n", wall, processor);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  if (argc == 5 && arguments[1] == "encode") {
    const bitpool::Model model = bitpool::Model::Open(arguments[2]);
    const std::vector<float> numbers = ReadNpy(arguments[3]);
    const bitpool::Vectors vectors(numbers, model.dimension());
    Time(std::stoi(arguments[4]), [&] { model.Encode(vectors); });
  } else if (argc == 7 && arguments[1] == "search") {
    const bitpool::Index index = bitpool::Index::Open(arguments[2]);
    const bitpool::Codes queries = bitpool::Codes::Open(arguments[3], std::stoi(arguments[4]));
    index.Search(queries, 1);
    Time(std::stoi(arguments[6]), [&] { index.Search(queries, std::stoi(arguments[5])); });
  } else {
    std::fputs("usage: python_border encode|search …\n", stderr);
    return 2;
  }
  return 0;
}
