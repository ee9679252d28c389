#include "bitpool/model.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/vector_file.h"
#include "bitpool/guest/conversions.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/training/feature_training.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/model_file.h"

namespace bitpool {
inline namespace v0 {

struct Model::Impl {
  StoredModel stored;
  std::string report;

  const HashModel& model() const { return stored.model; }
};

// Makes models for functions that are not members.
struct ModelMaker {
  static Model Make(Trained<HashModel> trained, const MethodSettings& settings, const Run& run) {
    nlohmann::json training = DescribeTraining(settings, trained.summary, run.seed);
    return Model(std::make_shared<const Model::Impl>(
        Model::Impl{.stored = {.model = std::move(trained.model), .training = std::move(training)},
                    .report = trained.summary.BriefReport()}));
  }
};

namespace {

MethodSettings SettingsOf(std::string_view method, const TrainOptions& options) {
  return {.method = std::string(method),
          .bits = options.bits,
          .options = {options.constants.begin(), options.constants.end()}};
}

Labels LabelsOf(std::span<const std::int32_t> classes) {
  return Labels::Single({classes.begin(), classes.end()});
}

Model TrainOnColumns(std::string_view method, const ColumnSource& source, const Labels* labels,
                     const TrainOptions& options, const Run& run) {
  const MethodSettings settings = SettingsOf(method, options);
  return ModelMaker::Make(
      TrainOnVectors(settings, {.vectors = source, .labels = labels}, ContextOf(run)), settings,
      run);
}

Model TrainOnImages(std::string_view method, const std::filesystem::path& features,
                    const Labels* labels, const std::filesystem::path& output,
                    const TrainOptions& options, const Run& run) {
  const MethodSettings settings = SettingsOf(method, options);
  const FeatureFile images = FeatureFile::Open(Env::Posix(), features);
  Trained<HashModel> trained = TrainOnFeatures(
      Env::Posix(), {.settings = settings, .output = output, .labels = labels, .resume = true},
      images, ContextOf(run));
  const bool interrupted = trained.summary.interrupted;
  Model model = ModelMaker::Make(std::move(trained), settings, run);
  model.Save(output);
  if (!interrupted) RemoveCheckpoint(Env::Posix(), output);
  return model;
}

}  // namespace

Model Model::Open(const std::filesystem::path& path) {
  return Model(
      std::make_shared<const Impl>(Impl{.stored = OpenModel(Env::Posix(), path), .report = {}}));
}

void Model::Save(const std::filesystem::path& path) const {
  SaveModel(Env::Posix(), path, impl_->stored, IfExists::kReplace);
}

std::string_view Model::method() const { return impl_->model().method; }
int Model::bits() const { return impl_->model().bits(); }
std::size_t Model::dimension() const {
  return static_cast<std::size_t>(impl_->model().dimension());
}
const std::string& Model::report() const { return impl_->report; }

Codes Model::Encode(const Vectors& vectors, const Run& run) const {
  RequireTakesVectors(impl_->model());
  return CodesOf(
      EncodeAll(*impl_->model().encoder, MatrixColumns(ColumnsOf(vectors)), ContextOf(run)));
}

OwnedVectors Model::Project(const Vectors& vectors, const Run& run) const {
  RequireTakesVectors(impl_->model());
  return VectorsOf(
      EncodeBatch(*impl_->model().encoder, MatrixColumns(ColumnsOf(vectors)), ContextOf(run))
          .projections);
}

OwnedVectors Model::Reconstruct(const Codes& codes) const {
  return VectorsOf(impl_->model().Reconstruct(BinaryCodesOf(codes)));
}

Codes Model::EncodeFeatures(const std::filesystem::path& features, const Run& run) const {
  return CodesOf(
      EncodeImages(impl_->model(), FeatureFile::Open(Env::Posix(), features), ContextOf(run))
          .codes);
}

OwnedVectors Model::ProjectFeatures(const std::filesystem::path& features, const Run& run) const {
  return VectorsOf(
      EncodeImages(impl_->model(), FeatureFile::Open(Env::Posix(), features), ContextOf(run))
          .projections);
}

Model Train(std::string_view method, const Vectors& vectors, const TrainOptions& options,
            const Run& run) {
  return TrainOnColumns(method, MatrixColumns(ColumnsOf(vectors)), nullptr, options, run);
}

Model Train(std::string_view method, const std::filesystem::path& vectors,
            const TrainOptions& options, const Run& run) {
  return TrainOnColumns(method, VectorFile(OpenSamples(Env::Posix(), vectors)), nullptr, options,
                        run);
}

Model Train(std::string_view method, const Vectors& vectors, std::span<const std::int32_t> classes,
            const TrainOptions& options, const Run& run) {
  const Labels labels = LabelsOf(classes);
  return TrainOnColumns(method, MatrixColumns(ColumnsOf(vectors)), &labels, options, run);
}

Model TrainOnFeatures(std::string_view method, const std::filesystem::path& features,
                      const std::filesystem::path& output, const TrainOptions& options,
                      const Run& run) {
  return TrainOnImages(method, features, nullptr, output, options, run);
}

Model TrainOnFeatures(std::string_view method, const std::filesystem::path& features,
                      std::span<const std::int32_t> classes, const std::filesystem::path& output,
                      const TrainOptions& options, const Run& run) {
  const Labels labels = LabelsOf(classes);
  return TrainOnImages(method, features, &labels, output, options, run);
}

}  // namespace v0
}  // namespace bitpool
