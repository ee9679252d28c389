// Training, and what models make of vectors and of local features.
#include "models.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/io/memory_file.h"
#include "bitpool/training/feature_training.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/model_file.h"
#include "features.h"
#include "jobs.h"

namespace bitpool::python {
namespace {

// The classes of all items, one after the other, and where those of each item end.
using Classes = std::pair<py::array, py::array>;

// Encoding this few numbers takes less time than starting a thread to watch it.
constexpr Index kBriefNumbers = 1 << 16;

MethodSettings SettingsOf(const std::string& method, int bits, const std::string& preset,
                          const std::map<std::string, double>& options) {
  return {.method = method,
          .bits = bits,
          .preset = preset,
          .options = {options.begin(), options.end()}};
}

std::optional<Labels> LabelsOf(const std::optional<Classes>& given) {
  if (!given) return std::nullopt;
  const std::vector<int64_t> classes = IdsOf(given->first, "y"), ends = IdsOf(given->second, "y");
  std::vector<std::vector<int32_t>> items;
  int64_t begin = 0;
  for (const int64_t end : ends) {
    items.emplace_back(classes.begin() + begin, classes.begin() + end);
    begin = end;
  }
  return InContext("y", [&] { return Labels::Multi(items); });
}

// Runs a trainer. A model that it saved when it was asked to stop comes with the exception that
// asked.
template <class Train>
py::tuple RunTraining(const MethodSettings& settings, const RunRequest& run, const Train& train) {
  std::optional<StoredModel> stored;
  const py::object interruption = RunWatched(run, [&](const RunContext& context) {
    Trained<HashModel> trained = train(context);
    nlohmann::json training = DescribeTraining(settings, trained.summary, run.seed);
    stored = {.model = std::move(trained.model), .training = std::move(training)};
  });
  if (!stored) return py::make_tuple(py::none(), interruption);
  return py::make_tuple(ModelHandle(std::move(*stored)), interruption);
}

py::tuple TrainVectors(const MethodSettings& settings, const py::array& samples,
                       const std::optional<Classes>& classes, Index images_per_picture,
                       const RunRequest& run) {
  const ArrayColumns vectors(samples, "X");
  const std::optional<Labels> labels = LabelsOf(classes);
  return RunTraining(settings, run, [&](const RunContext& context) {
    return Explained(vectors, [&](const ArrayColumns& columns) {
      return TrainOnVectors(settings,
                            {.vectors = columns,
                             .labels = labels ? &*labels : nullptr,
                             .per_picture = images_per_picture},
                            context);
    });
  });
}

py::tuple TrainFeatures(const MethodSettings& settings, const Features& features,
                        const std::optional<Classes>& classes, const std::filesystem::path& scratch,
                        const RunRequest& run) {
  const std::optional<Labels> labels = LabelsOf(classes);
  return RunTraining(settings, run, [&](const RunContext& context) {
    return TrainOnFeatures(Env::Posix(),
                           {.settings = settings,
                            .output = scratch / "model.bpm",
                            .labels = labels ? &*labels : nullptr},
                           *features.set, context);
  });
}

template <class Work>
auto RunEncoding(const ArrayColumns& vectors, const RunRequest& run, const Work& work) {
  return Explained(vectors, [&](const ArrayColumns& columns) {
    const auto encode = [&](const RunContext& context) { return work(columns, context); };
    if (run.progress.is_none() && columns.size() * columns.dimension() <= kBriefNumbers) {
      const py::gil_scoped_release released;
      return encode(BriefContext(run.threads));
    }
    return RunToTheEnd(run, encode);
  });
}

py::array_t<uint8_t> Encode(const ModelHandle& model, const py::array& samples,
                            const RunRequest& run) {
  return ArrayOfCodes(RunEncoding(ArrayColumns(samples, "X"), run,
                                  [&](const ArrayColumns& columns, const RunContext& context) {
                                    return EncodeAll(*model.model().encoder, columns, context);
                                  }));
}

py::array_t<float> Project(const ModelHandle& model, const py::array& samples,
                           const RunRequest& run) {
  return ArrayOfSamples(RunEncoding(
      ArrayColumns(samples, "X"), run, [&](const ArrayColumns& columns, const RunContext& context) {
        return EncodeBatch(*model.model().encoder, columns, context).projections;
      }));
}

py::array_t<float> ReconstructVectors(const ModelHandle& model, const py::array& codes) {
  const BinaryCodes packed = CodesOf(codes, model.model().bits(), "codes");
  MatrixF vectors;
  {
    const py::gil_scoped_release released;
    vectors = model.model().Reconstruct(packed);
  }
  return ArrayOfSamples(std::move(vectors));
}

// (image, reason) of those that could not be used.
py::list ListFailed(const std::vector<FailedImage>& failed) {
  py::list listed;
  for (const FailedImage& one : failed) listed.append(py::make_tuple(one.image, one.reason));
  return listed;
}

py::tuple EncodeFeatures(const ModelHandle& model, const Features& features,
                         const RunRequest& run) {
  EncodedImages encoded = RunToTheEnd(run, [&](const RunContext& context) {
    return EncodeImages(model.model(), *features.set, context);
  });
  return py::make_tuple(ArrayOfCodes(std::move(encoded.codes)),
                        ArrayOfSamples(std::move(encoded.projections)), ListFailed(encoded.failed));
}

py::tuple PoolFeatures(const ModelHandle& model, const Features& features, const RunRequest& run) {
  PooledImages pooled = RunToTheEnd(run, [&](const RunContext& context) {
    const PoolingSystem system = PoolingOf(model.model());
    return PoolImages(system, model.model().pooling->normalise, *features.set, context);
  });
  return py::make_tuple(ArrayOfSamples(std::move(pooled.vectors)), ListFailed(pooled.failed));
}

py::dict Parameters(const ModelHandle& model) {
  py::dict parameters;
  for (auto& [name, matrix] : model.model().encoder->Parameters()) {
    parameters[py::str(name)] = ReadOnly(ArrayOfMatrix(matrix));
  }
  parameters["decoder_weights"] = ReadOnly(ArrayOfMatrix(model.model().decoder.weights));
  parameters["decoder_bias"] = ReadOnly(ArrayOfMatrix(model.model().decoder.bias));
  return parameters;
}

ModelHandle Open(const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  return ModelHandle(OpenModel(Env::Posix(), path));
}

void SaveModelHandle(const ModelHandle& model, const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  SaveModel(Env::Posix(), path, *model.shared, IfExists::kReplace);
}

py::bytes ModelToBytes(const ModelHandle& model) {
  const std::vector<std::byte> bytes =
      WriteToMemory([&](Env& env, const std::filesystem::path& path) {
        SaveModel(env, path, *model.shared, IfExists::kReplace);
      });
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ModelHandle ModelFromBytes(const py::bytes& bytes) {
  const std::span<const std::byte> view = std::as_bytes(std::span(std::string_view(bytes)));
  return ModelHandle(
      ParseModel(Container::Parse(FileView::FromBytes("bytes", {view.begin(), view.end()}))));
}

}  // namespace

void BindModels(py::module_& module) {
  py::class_<MethodSettings>(module, "Settings", "A method and the values of its options.")
      .def(py::init(&SettingsOf), py::arg("method"), py::arg("n_bits"), py::arg("preset"),
           py::arg("options"));
  module.def("require_valid", &RequireValid, py::arg("settings"));
  module.def("train_vectors", &TrainVectors, py::arg("settings"), py::arg("X"), py::arg("classes"),
             py::arg("images_per_picture"), py::arg("run"));
  module.def("train_features", &TrainFeatures, py::arg("settings"), py::arg("X"),
             py::arg("classes"), py::arg("scratch"), py::arg("run"));
  py::class_<ModelHandle>(module, "Model", "Codes that were learned. Never changes.")
      .def_static("open", &Open, py::arg("path"))
      .def_static("from_bytes", &ModelFromBytes, py::arg("data"))
      .def("save", &SaveModelHandle, py::arg("path"))
      .def("to_bytes", &ModelToBytes)
      .def(py::pickle(&ModelToBytes, &ModelFromBytes))
      .def("__copy__", [](const ModelHandle& model) { return model; })
      .def(
          "__deepcopy__", [](const ModelHandle& model, const py::dict&) { return model; },
          py::arg("memo"))
      .def_property_readonly("method",
                             [](const ModelHandle& model) { return model.model().method; })
      .def_property_readonly("n_bits",
                             [](const ModelHandle& model) { return model.model().bits(); })
      .def_property_readonly("n_features",
                             [](const ModelHandle& model) { return model.model().dimension(); })
      .def_property_readonly(
          "takes_features",
          [](const ModelHandle& model) { return model.model().pooling.has_value(); })
      .def_property_readonly("training",
                             [](const ModelHandle& model) { return model.shared->training.dump(); })
      .def("parameters", &Parameters)
      .def("encode", &Encode, py::arg("X"), py::arg("run"))
      .def("project", &Project, py::arg("X"), py::arg("run"))
      .def("reconstruct", &ReconstructVectors, py::arg("codes"))
      .def("encode_features", &EncodeFeatures, py::arg("X"), py::arg("run"))
      .def("pool_features", &PoolFeatures, py::arg("X"), py::arg("run"));
}

}  // namespace bitpool::python
