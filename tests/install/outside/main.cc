// A user's program: writes vectors, reads them back, and reduces them.
#include <cstdio>
#include <filesystem>

#include "bitpool/base/random.h"
#include "bitpool/version.h"
#include "bitpool/dataset/vector_file.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/linalg/pca.h"

int main() {
  using namespace bitpool;
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "bitpool-outside.npy";
  const MatrixF vectors = Random(1).NormalMatrix(16, 500);
  const auto writer = CreateSamples(Env::Posix(), path, DType::kF4, {16}, IfExists::kReplace);
  writer->Append<float>({vectors.data(), static_cast<size_t>(vectors.size())});
  writer->Commit();
  const VectorFile file(OpenSamples(Env::Posix(), path));
  const Pca pca = ComputePca(ComputeMoments(file, RunContext()), 4);
  std::filesystem::remove(path);
  std::printf("bitpool %s: %d of %d dimensions\n", Version(), static_cast<int>(pca.basis.cols()),
              static_cast<int>(file.dimension()));
  return pca.basis.cols() == 4 ? 0 : 1;
}
