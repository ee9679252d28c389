// Training over shards: the trainer's side, and the side of whoever computes the part of a shard.
#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "bitpool/hash/sash.h"
#include "bitpool/hash/view_shards.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/pooled_vectors.h"
#include "bitpool/training/record_file.h"
#include "bitpool/training/sharded_training.h"
#include "features.h"
#include "jobs.h"
#include "models.h"

namespace bitpool::python {
namespace {

namespace fs = std::filesystem;

// --- The side of the trainer

// Shards of this many samples each, one after the other.
std::vector<ShardPlace> PlacesOf(const std::vector<Index>& counts) {
  std::vector<ShardPlace> places;
  Index total = 0;
  for (const Index count : counts) {
    places.push_back({.first = total, .count = count});
    total += count;
  }
  for (ShardPlace& place : places) place.total = total;
  return places;
}

using ComputeParts = std::function<void(int step, const std::vector<int>& shards)>;

// Runs on the thread of the caller, since most of the time is spent in `compute`, where Python
// looks for Ctrl-C itself.
ModelHandle TrainShards(const MethodSettings& settings, const fs::path& folder,
                        const std::string& job, const std::vector<Index>& counts,
                        Index images_per_picture, const ComputeParts& compute,
                        const RunRequest& run) {
  const auto with_python = [&](int step, const std::vector<int>& shards) {
    const py::gil_scoped_acquire held;
    compute(step, shards);
  };
  const py::gil_scoped_release released;
  const RunContext context({.threads = run.threads, .seed = run.seed});
  FileShards shards(Env::Posix(), folder, job, PlacesOf(counts), with_python);
  Trained<HashModel> trained = TrainOnShards(settings, shards, images_per_picture, context);
  nlohmann::json training = DescribeTraining(settings, trained.summary, run.seed);
  return ModelHandle({.model = std::move(trained.model), .training = std::move(training)});
}

// The model with what only its maker knows: how images become vectors, and which images had none.
ModelHandle CompleteModel(const ModelHandle& model, const MethodSettings& settings,
                          const std::vector<std::string>& skipped, bool pooled) {
  StoredModel completed = *model.shared;
  if (pooled) completed.model.pooling = PooledBy(settings);
  completed.training["skipped"] = skipped;
  return ModelHandle(std::move(completed));
}

// --- The side of a shard

// Some samples, and the parts that were asked of them.
class ShardHandle {
 public:
  virtual ~ShardHandle() = default;
  ShardHandle(const ShardHandle&) = delete;
  ShardHandle& operator=(const ShardHandle&) = delete;

  void Compute(int step, const RunRequest& run) {
    RunToTheEnd(run, [&](const RunContext& context) {
      worker_->Compute(step, context);
      return true;
    });
  }

 protected:
  ShardHandle() = default;
  void Begin(fs::path folder, int number, std::unique_ptr<Shard> shard) {
    shard_ = std::move(shard);
    worker_ = std::make_unique<ShardWorker>(Env::Posix(), std::move(folder), number, *shard_);
  }

  std::unique_ptr<Shard> shard_;

 private:
  std::unique_ptr<ShardWorker> worker_;
};

class VectorShardHandle : public ShardHandle {
 public:
  VectorShardHandle(fs::path folder, int number, const std::vector<Index>& counts,
                    py::array vectors, bool whitened)
      : array_(std::move(vectors)), columns_(array_, "X") {
    const ShardPlace place = PlacesOf(counts).at(static_cast<size_t>(number));
    std::unique_ptr<Shard> shard;
    if (whitened) {
      shard = std::make_unique<ViewShard>(place, columns_);
    } else {
      shard = std::make_unique<Shard>(place);
      shard->Give(kInputs, columns_);
    }
    Begin(std::move(folder), number, std::move(shard));
  }

 private:
  py::array array_;
  ArrayColumns columns_;
};

class RecordShardHandle : public ShardHandle {
 public:
  // `labels` are a row of 0 and 1 for each image; none where the method takes none.
  RecordShardHandle(fs::path folder, int number, const std::vector<Index>& counts,
                    const fs::path& records, std::optional<py::array> labels)
      : records_(FileRecords::Open(Env::Posix(), records)), labels_(std::move(labels)) {
    const ShardPlace place = PlacesOf(counts).at(static_cast<size_t>(number));
    Begin(std::move(folder), number, std::make_unique<ImageShard>(place, *records_));
    if (!labels_) return;
    targets_.emplace(*labels_, "labels");
    shard_->Give(kSashLabels, *targets_);
  }

 private:
  std::unique_ptr<FileRecords> records_;
  std::optional<py::array> labels_;
  std::optional<ArrayColumns> targets_;
};

// --- What shards are made of

// Pictures [first, end) of a set.
using Pictures = std::tuple<Features, Index, Index>;

struct OwnedSubset {
  std::shared_ptr<const FeatureSet> of;
  FeatureSubset subset;
};

// The pictures of several sets as one, with their views or without.
JoinedFeatureSet Join(const std::vector<Pictures>& pieces, bool views) {
  std::vector<std::shared_ptr<const FeatureSet>> sets;
  for (const auto& [features, first, end] : pieces) {
    const Index each = features.set->images_per_picture();
    std::vector<Index> chosen;
    for (Index picture = first; picture < end; ++picture) {
      chosen.push_back(views ? picture : picture * each);
    }
    auto owned = std::make_shared<OwnedSubset>(
        OwnedSubset{.of = features.set,
                    .subset = views ? FeatureSubset::OfPictures(*features.set, chosen)
                                    : FeatureSubset(*features.set, std::move(chosen))});
    sets.emplace_back(owned, &owned->subset);
  }
  return JoinedFeatureSet(std::move(sets));
}

py::list NamesOf(const std::vector<std::string>& names) {
  py::list listed;
  for (const std::string& name : names) listed.append(py::bytes(name));
  return listed;
}

// Writes the records of images, and returns the names of those without descriptors.
py::list ReducePictures(const MethodSettings& settings, const std::vector<Pictures>& pieces,
                        const fs::path& path, const RunRequest& run) {
  const JoinedFeatureSet images = Join(pieces, false);
  return NamesOf(RunToTheEnd(run, [&](const RunContext& context) {
    FileRecords records(Env::Posix(), path, images.dimension());
    std::vector<std::string> skipped =
        ReduceImages(images, ValueOf(settings, "normalise") != 0, records, context);
    records.Keep();
    return skipped;
  }));
}

// The vectors of the pictures that could be pooled, and the names of the images that could not.
py::tuple PoolSomePictures(const MethodSettings& settings, const std::vector<Pictures>& pieces,
                           const RunRequest& run) {
  const JoinedFeatureSet images = Join(pieces, TakesViews(settings));
  PooledPictures pooled = RunToTheEnd(run, [&](const RunContext& context) {
    return bitpool::PoolPictures(PooledBy(settings), images, context);
  });
  return py::make_tuple(ArrayOfSamples(std::move(pooled.vectors)), NamesOf(pooled.skipped));
}

}  // namespace

void BindShards(py::module_& module) {
  module.attr("SHARD_ALIGNMENT") = kShardAlignment;
  module.def("train_shards", &TrainShards, py::arg("settings"), py::arg("folder"), py::arg("job"),
             py::arg("counts"), py::arg("images_per_picture"), py::arg("compute"), py::arg("run"));
  module.def("complete_model", &CompleteModel, py::arg("model"), py::arg("settings"),
             py::arg("skipped"), py::arg("pooled"));
  module.def("reduce_pictures", &ReducePictures, py::arg("settings"), py::arg("pieces"),
             py::arg("path"), py::arg("run"));
  module.def("pool_pictures", &PoolSomePictures, py::arg("settings"), py::arg("pieces"),
             py::arg("run"));
  module.def("takes_views", &TakesViews, py::arg("settings"));
  module.def("whitens_by_views", &WhitensByViews, py::arg("settings"));
  module.def("option_value", &ValueOf, py::arg("settings"), py::arg("option"));
  module.def("require_shardable", &RequireShardable, py::arg("settings"));
  py::class_<ShardHandle>(module, "Shard", "Computes the parts of one shard.")
      .def("compute", &ShardHandle::Compute, py::arg("step"), py::arg("run"));
  py::class_<VectorShardHandle, ShardHandle>(module, "VectorShard", "Vectors.")
      .def(py::init<fs::path, int, const std::vector<Index>&, py::array, bool>(), py::arg("folder"),
           py::arg("number"), py::arg("counts"), py::arg("X"), py::arg("whitened"));
  py::class_<RecordShardHandle, ShardHandle>(module, "RecordShard", "Records of images.")
      .def(py::init<fs::path, int, const std::vector<Index>&, const fs::path&,
                    std::optional<py::array>>(),
           py::arg("folder"), py::arg("number"), py::arg("counts"), py::arg("records"),
           py::arg("labels"));
}

}  // namespace bitpool::python
