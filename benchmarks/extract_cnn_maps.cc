// Makes a feature file out of pictures with a Caffe network, for the experiments:
//   extract_cnn_maps NET.prototxt NET.caffemodel LAYER SIZE OUT.bpf FOLDER...
// Pictures are scaled to SIZE × SIZE pixels; every position of the layer's maps is a descriptor.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/dnn.hpp>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/dataset/feature_file.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Pictures that are in memory at once.
constexpr size_t kWave = 64;

std::vector<fs::path> FindPictures(const std::vector<std::string>& folders) {
  std::vector<fs::path> pictures;
  for (const std::string& folder : folders) {
    std::vector<fs::path> here;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".jpg") here.push_back(entry.path());
    }
    std::ranges::sort(here);
    pictures.insert(pictures.end(), here.begin(), here.end());
  }
  return pictures;
}

// D×n: the values of all maps at each position.
std::optional<MatrixF> Extract(cv::dnn::Net& net, const std::string& layer, int size,
                               const fs::path& picture) {
  const cv::Mat pixels = cv::imread(picture.string(), cv::IMREAD_COLOR);
  if (pixels.empty()) return std::nullopt;
  net.setInput(cv::dnn::blobFromImage(pixels, 1, {size, size}, {104, 117, 123}));
  const cv::Mat maps = net.forward(layer);
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return MatrixF(
      Eigen::Map<const RowMajor>(maps.ptr<float>(), maps.size[1], maps.size[2] * maps.size[3]));
}

int Main(const std::vector<std::string>& arguments) {
  const std::string &prototxt = arguments[0], &weights = arguments[1], &layer = arguments[2];
  const int size = std::stoi(arguments[3]);
  const std::vector<fs::path> pictures = FindPictures({arguments.begin() + 5, arguments.end()});
  cv::setNumThreads(1);  // pictures run in parallel instead
  const RunContext context;
  std::optional<FeatureFileWriter> writer;
  for (size_t first = 0; first < pictures.size(); first += kWave) {
    const size_t count = std::min(kWave, pictures.size() - first);
    std::vector<std::optional<MatrixF>> maps(count);
    context.ParallelFor(count, 1, [&](size_t i, size_t /*end*/) {
      thread_local cv::dnn::Net net = cv::dnn::readNetFromCaffe(prototxt, weights);
      maps[i] = Extract(net, layer, size, pictures[first + i]);
    });
    for (size_t i = 0; i < count; ++i) {
      if (!maps[i]) {
        std::fprintf(stderr, "%s: not a picture\n", pictures[first + i].c_str());
        continue;
      }
      if (!writer) {
        writer.emplace(Env::Posix(), arguments[4], maps[i]->rows(), Precision::kHalf,
                       IfExists::kReplace);
      }
      writer->Append(pictures[first + i].filename().string(), *maps[i]);
    }
    std::fprintf(stderr, "\r%zu of %zu", first + count, pictures.size());
  }
  if (writer) writer->Commit({{"layer", layer}, {"pixels", size}});
  std::fprintf(stderr, "\n");
  return writer ? 0 : 1;
}

}  // namespace
}  // namespace bitpool

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fprintf(stderr, "usage: %s NET.prototxt NET.caffemodel LAYER SIZE OUT.bpf FOLDER...\n",
                 argv[0]);
    return 2;
  }
  return bitpool::Main({argv + 1, argv + argc});
}
