#include "bitpool/experiments/joint_files.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/holidays.h"
#include "bitpool/dataset/label_file.h"
#include "bitpool/dataset/neighbour_file.h"
#include "bitpool/training/record_file.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

using Say = std::function<void(const std::string&)>;

// The records of a file's images, in memory or in a scratch file.
std::unique_ptr<RecordStore> Reduce(Env& env, const JointFiles& files, const fs::path& path,
                                    const char* part, const RunContext& context, const Say& say) {
  const auto pictures = OpenPictures(env, path);
  auto records = MakeRecordStore(env, *pictures, PrecisionFor(files.normalise), files.memory,
                                 fmt::format("{}-{}.records", files.scratch.string(), part));
  const std::vector<std::string> skipped =
      ReduceImages(*pictures, files.normalise, *records, context);
  for (const std::string& name : skipped) say(name + ": no descriptors, left out");
  if (!skipped.empty() && part != std::string_view("training")) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} images: one without descriptors has no place in a ground truth", part));
  }
  return records;
}

// Errors about the arguments are really about the file, so they name it.
std::unique_ptr<RecordStore> ReduceNaming(Env& env, const JointFiles& files, const fs::path& path,
                                          const char* part, const RunContext& context,
                                          const Say& say) {
  try {
    return Reduce(env, files, path, part, context, say);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    throw error.In(path.string());
  }
}

// What is right, and which images of the database search where there are no separate queries.
struct Answers {
  std::unique_ptr<GroundTruth> truth;
  std::vector<Index> query_images = {};
  Protocol protocol = HashingProtocol();
};

Answers LoadAnswers(Env& env, const JointFiles& files) {
  if (files.top < 0 || (files.top > 0 && files.holidays)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("top: {}: expected a number of results, and 0 (all) for INRIA Holidays",
                            files.top));
  }
  const auto database = OpenPictures(env, files.database);
  Answers answers;
  if (files.holidays) {
    std::vector<std::string> names;
    for (Index image = 0; image < database->size(); ++image) names.push_back(database->name(image));
    RetrievalTask task = MakeHolidaysTask(names);
    for (const PictureQuery& query : task.queries) answers.query_images.push_back(query.picture);
    answers.truth = std::make_unique<ListedTruth>(std::move(task.truth));
    answers.protocol = HolidaysProtocol();
  } else if (!files.truth.empty()) {
    answers.truth =
        std::make_unique<ListedTruth>(LoadNeighbours(env, files.truth, database->size()));
  } else {
    answers.truth = std::make_unique<LabelTruth>(LoadLabels(env, files.query_labels),
                                                 LoadLabels(env, files.labels));
  }
  if (files.top > 0) answers.protocol = HashingAt(files.top);
  return answers;
}

}  // namespace

Experiment RunJointOnFiles(Env& env, const JointOptions& options, const JointFiles& files,
                           const RunContext& context, const Say& say) {
  const Answers answers = LoadAnswers(env, files);
  const auto reduce = [&](const fs::path& path, const char* part) {
    return ReduceNaming(env, files, path, part, context, say);
  };
  const FeatureFile images = FeatureFile::Open(env, files.training);
  const bool views = images.images_per_picture() > 1;
  JointOptions joint = options;
  if (views) joint.AddOurs();
  const auto training = reduce(files.training, "training");
  const auto database = reduce(files.database, "database");
  std::unique_ptr<RecordStore> queries;
  const auto database_images = OpenPictures(env, files.database);
  std::shared_ptr<const FeatureSet> query_images;
  if (!files.queries.empty()) {
    queries = reduce(files.queries, "queries");
    query_images = OpenPictures(env, files.queries);
  }
  return RunJointExperiment(joint,
                            {.training = *training,
                             .database = *database,
                             .queries = queries.get(),
                             .query_images = answers.query_images,
                             .truth = *answers.truth,
                             .protocol = answers.protocol,
                             .normalise = files.normalise,
                             .views = views ? &images : nullptr,
                             .database_images = database_images.get(),
                             .query_set = query_images.get()},
                            context);
}

}  // namespace bitpool
