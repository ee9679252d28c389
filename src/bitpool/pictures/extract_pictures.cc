#include "bitpool/pictures/extract_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/io/checksum.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Pictures = std::span<const FoundPicture>;

Index ImagesPerPicture(const PictureExtraction& job) { return 1 + job.views.count; }

std::string PartPrefix(const fs::path& output) { return output.filename().string() + ".part-"; }

fs::path FolderOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// One part of the pictures and the file for their features.
class PartFile {
 public:
  PartFile(Env& env, const PictureExtraction& job, const PictureDescriber& describer, size_t number,
           Pictures pictures)
      : env_(env),
        job_(job),
        describer_(describer),
        pictures_(pictures),
        file_(FolderOf(job.output) / fmt::format("{}{:05}", PartPrefix(job.output), number)) {
    std::string described = describer.digest() + DescribeViews(job.views).dump();
    for (const FoundPicture& picture : pictures) {
      described += fmt::format(" {}:{} {} {}", picture.path.size(), picture.path, picture.size,
                               picture.mtime_ns);
    }
    key_ = ContentDigest(std::as_bytes(std::span(described)));
  }

  Index size() const { return static_cast<Index>(pictures_.size()); }

  // True when the file is there, complete, and of this part.
  bool Done() const {
    if (!env_.Exists(file_)) return false;
    try {
      return FeatureFile::Open(env_, file_).about().value("key", "") == key_;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kIo || error.code() == ErrorCode::kResources) throw;
      return false;  // whatever it is, it is made again
    } catch (const json::exception&) {
      return false;
    }
  }

  void Extract(Progress& progress, const RunContext& context) const {
    std::vector<fs::path> files;
    for (const FoundPicture& picture : pictures_) files.push_back(job_.folder / picture.path);
    FeatureFileWriter writer(env_, file_, describer_.dimension(), Precision::kHalf,
                             IfExists::kReplace, ImagesPerPicture(job_));
    json failed = json::array();
    const auto take = [&](size_t i, const DescribedPicture& picture) {
      if (picture.failure.empty()) {
        writer.Append(pictures_[i].path, picture.features);
        for (size_t view = 0; view < picture.views.size(); ++view) {
          writer.Append(fmt::format("{}#{}", pictures_[i].path, view + 1), picture.views[view]);
        }
      } else {
        failed.push_back({i, picture.failure});
      }
    };
    DescribePictures(env_, describer_, files, progress, context, take, job_.views);
    writer.Commit({{"key", key_}, {"failed", failed}});
  }

  // Appends what the file holds. REQUIRES: Done().
  void MoveTo(FeatureFileWriter& writer, ExtractedPictures& result,
              const RunContext& context) const {
    const FeatureFile features = FeatureFile::Open(env_, file_);
    MatrixF descriptors;
    for (Index image = 0; image < features.size(); ++image) {
      context.ThrowIfStopped();
      features.Read(image, descriptors);
      writer.Append(features.name(image), descriptors);
      result.descriptors += descriptors.cols();
    }
    result.pictures += features.pictures();
    for (const json& failed : features.about().at("failed")) {
      const FoundPicture& picture = pictures_[failed.at(0).get<size_t>()];
      result.failed.push_back(
          {.path = job_.folder / picture.path, .reason = failed.at(1).get<std::string>()});
    }
  }

 private:
  Env& env_;
  const PictureExtraction& job_;
  const PictureDescriber& describer_;
  Pictures pictures_;
  fs::path file_;
  std::string key_;  // of the pictures and the way they are described
};

std::vector<PartFile> PartsOf(Env& env, const PictureExtraction& job,
                              const PictureDescriber& describer, Pictures pictures) {
  std::vector<PartFile> parts;
  const auto size = static_cast<size_t>(job.part_size);
  for (size_t first = 0; first < pictures.size(); first += size) {
    parts.emplace_back(env, job, describer, parts.size(),
                       pictures.subspan(first, std::min(size, pictures.size() - first)));
  }
  return parts;
}

// All parts beside the output, of this job or an earlier one.
void RemoveParts(Env& env, const fs::path& output) {
  const std::string prefix = PartPrefix(output);
  for (const std::string& name : env.List(FolderOf(output))) {
    if (name.starts_with(prefix)) env.Remove(FolderOf(output) / name);
  }
}

}  // namespace

json DescribeViews(const ViewPlan& plan) {
  return {{"count", plan.count},
          {"kind", NameOf(plan.kind)},
          {"seed", plan.seed},
          {"version", kViewsVersion}};
}

void PictureExtraction::Validate() const {
  views.Validate();
  if (limit < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("limit: expected 0 or more, got {}", limit));
  }
  if (part_size < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("part_size: expected 1 or more, got {}", part_size));
  }
}

ExtractedPictures ExtractPictures(Env& env, const PictureDescriber& describer,
                                  const PictureExtraction& job, const RunContext& context) {
  job.Validate();
  // Started before the work, which would be in vain if the file could not be written.
  FeatureFileWriter writer(env, job.output, describer.dimension(), Precision::kHalf, job.if_exists,
                           ImagesPerPicture(job));
  ExtractedPictures result;
  std::vector<FoundPicture> pictures = FindPictures(env, job.folder, context, &result.failed);
  if (pictures.empty() && result.failed.empty()) {
    throw Error(ErrorCode::kNotFound, job.folder.string(), "no pictures here");
  }
  if (job.limit > 0 && static_cast<size_t>(job.limit) < pictures.size()) {
    pictures.resize(static_cast<size_t>(job.limit));
  }
  if (!job.resume) RemoveParts(env, job.output);
  const std::vector<PartFile> parts = PartsOf(env, job, describer, pictures);
  {
    Progress progress = context.StartProgress("describing", "pictures", pictures.size());
    for (const PartFile& part : parts) {
      if (part.Done()) {
        result.resumed += part.size();
        progress.Advance(static_cast<uint64_t>(part.size()));
      } else {
        part.Extract(progress, context);
      }
    }
  }
  for (const PartFile& part : parts) part.MoveTo(writer, result, context);
  json about = {{"extractor", DescribeExtractor(describer.settings())},
                {"embedded", describer.embedding().has_value()},
                {"digest", describer.digest()}};
  if (job.views.count > 0) about["views"] = DescribeViews(job.views);
  writer.Commit(about);
  RemoveParts(env, job.output);
  return result;
}

}  // namespace bitpool
