// Images as sets of local features, and vectors in files.
#include "features.h"

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "bindings.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool::python {

ArrayFeatureSet::ArrayFeatureSet(const std::vector<py::array>& images,
                                 std::vector<std::string> names, Index images_per_picture)
    : names_(std::move(names)), images_per_picture_(images_per_picture) {
  if (images.empty()) throw Error(ErrorCode::kInvalidArgument, "X", "has no images");
  if (!names_.empty() && names_.size() != images.size()) {
    throw Error(ErrorCode::kInvalidArgument, "names",
                fmt::format("{} names for {} images", names_.size(), images.size()));
  }
  if (images_per_picture < 1 || static_cast<Index>(images.size()) % images_per_picture != 0) {
    throw Error(
        ErrorCode::kInvalidArgument, "images_per_picture",
        fmt::format("{}: expected a divisor of the {} images", images_per_picture, images.size()));
  }
  for (size_t i = 0; i < images.size(); ++i) {
    images_.emplace_back(images[i], fmt::format("X[{}]", i));
    if (images_.back().dimension() == dimension()) continue;
    throw Error(ErrorCode::kInvalidArgument, images_.back().argument(),
                fmt::format("has descriptors of dimension {}: expected {}, as X[0] has",
                            images_.back().dimension(), dimension()));
  }
}

std::string ArrayFeatureSet::name(Index image) const {
  return names_.empty() ? At(image).argument() : names_.at(static_cast<size_t>(image));
}

void ArrayFeatureSet::Read(Index image, MatrixF& descriptors) const {
  const ArrayColumns& columns = At(image);
  MatrixF buffer;
  descriptors = columns.Read(0, columns.size(), buffer);
  Explained(columns, [&](const ArrayColumns&) {
    RequireDescriptors(name(image), descriptors, dimension());
    return true;
  });
}

namespace {

Features OfArrays(std::vector<py::array> images, std::vector<std::string> names,
                  Index images_per_picture) {
  auto set = std::make_shared<ArrayFeatureSet>(images, std::move(names), images_per_picture);
  return {.set = std::move(set), .arrays = std::move(images)};
}

Features OpenFeatures(const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  auto file = std::make_shared<const FeatureFile>(FeatureFile::Open(Env::Posix(), path));
  return {.set = file, .file = file};
}

Features PartsOf(const Features& whole, Index parts, uint64_t seed) {
  Features made = whole;
  made.parts_of = whole.set;
  made.set = std::make_shared<DescriptorParts>(*whole.set, parts, seed);
  return made;
}

// The descriptors of an image as they are kept: a view of the file or of the caller's array.
py::array Descriptors(const Features& features, Index image) {
  const py::ssize_t dimension = features.set->dimension();
  const bool whole = features.parts_of == nullptr;
  if (whole && features.file) {
    const FeatureFile& file = *features.file;
    const std::span<const std::byte> stored = file.Stored(image);
    const char* const type = file.precision() == Precision::kHalf ? "f2" : "f4";
    using Kept = std::shared_ptr<const FeatureFile>;
    const py::capsule base(new Kept(features.file),
                           [](void* kept) { delete static_cast<Kept*>(kept); });
    return ReadOnly(
        py::array(py::dtype(type), {file.descriptor_count(image), dimension}, stored.data(), base));
  }
  if (whole) {
    return ReadOnly(features.arrays.at(static_cast<size_t>(image)).attr("view")());
  }
  MatrixF descriptors;
  features.set->Read(image, descriptors);
  return ReadOnly(ArrayOfSamples(std::move(descriptors)));
}

py::array_t<int64_t> DescriptorCounts(const Features& features) {
  std::vector<int64_t> counts;
  for (Index image = 0; image < features.set->size(); ++image) {
    counts.push_back(features.set->descriptor_count(image));
  }
  const auto size = static_cast<py::ssize_t>(counts.size());
  return ArrayOf(std::move(counts), {size});
}

void SaveFeatures(const Features& features, const std::filesystem::path& path, bool half) {
  const py::gil_scoped_release released;
  const FeatureSet& set = *features.set;
  FeatureFileWriter writer(Env::Posix(), path, set.dimension(),
                           half ? Precision::kHalf : Precision::kSingle, IfExists::kReplace,
                           set.images_per_picture());
  MatrixF descriptors;
  for (Index image = 0; image < set.size(); ++image) {
    set.Read(image, descriptors);
    writer.Append(set.name(image), descriptors);
  }
  writer.Commit({{"made_by", "bitpool.FeatureSet"}});
}

// The vectors of a file as they lie there.
py::array OpenVectors(const std::filesystem::path& path) {
  auto file = std::make_unique<SampleFile>(OpenSamples(Env::Posix(), path));
  const std::span<const std::byte> stored = file->Stored();
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(file->count())};
  for (const uint64_t size : file->sample_shape()) shape.push_back(static_cast<py::ssize_t>(size));
  const py::dtype type{std::string(DTypeName(file->dtype()))};
  std::vector<py::ssize_t> strides(shape.size(), type.itemsize());
  for (size_t i = shape.size() - 1; i > 1; --i) strides[i - 1] = strides[i] * shape[i];
  strides[0] = static_cast<py::ssize_t>(file->stride());
  const py::capsule base(file.release(), [](void* kept) { delete static_cast<SampleFile*>(kept); });
  return ReadOnly(py::array(type, shape, strides, stored.data(), base));
}

}  // namespace

void BindFeatures(py::module_& module) {
  py::class_<Features>(module, "Features", "Images as sets of local features.")
      .def(py::init(&OfArrays), py::arg("images"), py::arg("names"), py::arg("images_per_picture"))
      .def_static("open", &OpenFeatures, py::arg("path"))
      .def("parts", &PartsOf, py::arg("n_parts"), py::arg("seed"))
      .def("save", &SaveFeatures, py::arg("path"), py::arg("half"))
      .def("descriptors", &Descriptors, py::arg("image"))
      .def(
          "name",
          [](const Features& features, Index image) {
            return py::bytes(features.set->name(image));
          },
          py::arg("image"))
      .def("descriptor_counts", &DescriptorCounts)
      .def("__len__", [](const Features& features) { return features.set->size(); })
      .def_property_readonly("dimension",
                             [](const Features& features) { return features.set->dimension(); })
      .def_property_readonly("images_per_picture", [](const Features& features) {
        return features.set->images_per_picture();
      });
  module.def("open_vectors", &OpenVectors, py::arg("path"));
}

}  // namespace bitpool::python
