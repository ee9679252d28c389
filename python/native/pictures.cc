// Coders and libraries of pictures.
#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/picture_examination.h"
#include "bitpool/library/picture_library.h"
#include "bitpool/pictures/picture_coder.h"
#include "jobs.h"

namespace bitpool::python {
namespace {

std::span<const std::byte> ViewOf(const py::bytes& bytes) {
  return std::as_bytes(std::span(std::string_view(bytes)));
}

py::bytes BytesOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

py::list ListFailed(const std::vector<FailedPicture>& failed) {
  py::list listed;
  for (const FailedPicture& one : failed) {
    listed.append(py::make_tuple(py::bytes(one.path.string()), one.reason));
  }
  return listed;
}

// A picture of a library, as the fields that Python makes a Picture of.
py::dict DictOf(const CataloguedPicture& picture) {
  py::dict fields;
  fields["id"] = picture.id;
  fields["path"] = py::bytes(picture.path);  // any bytes, which Python decodes as the system does
  fields["file_size"] = picture.size;
  fields["width"] = picture.width;
  fields["height"] = picture.height;
  fields["failure"] = picture.failure;
  return fields;
}

// --- Coders

// The codes of pictures; a picture that cannot be used has a code of zeros, and the reason is
// listed under its number.
struct CodedPictures {
  BinaryCodes codes;
  std::vector<std::pair<size_t, Error>> failed = {};
};

CodedPictures EncodeAll(const PictureCoder& coder, size_t count,
                        const std::function<PictureCode(size_t)>& encode,
                        const RunContext& context) {
  std::vector<std::vector<uint8_t>> codes(count, std::vector<uint8_t>(BytesPerCode(coder.bits())));
  std::vector<std::optional<Error>> failures(count);
  Progress progress = context.StartProgress("encoding", "pictures", count);
  context.ParallelFor(count, 1, [&](size_t i, size_t /*end*/) {
    try {
      codes[i] = encode(i).code;
    } catch (const Error& error) {
      failures[i] = error;
    }
    progress.Advance();
  });
  CodedPictures coded{.codes = BinaryCodes(coder.bits())};
  for (size_t i = 0; i < count; ++i) {
    coded.codes.Append(codes[i]);
    if (failures[i]) coded.failed.emplace_back(i, *failures[i]);
  }
  return coded;
}

py::tuple TupleOf(CodedPictures coded) {
  py::list failed;
  for (const auto& [number, error] : coded.failed) {
    failed.append(py::make_tuple(number, std::string(ErrorCodeName(error.code())),
                                 std::string(error.what())));
  }
  return py::make_tuple(ArrayOfCodes(std::move(coded.codes)), failed);
}

py::tuple EncodeFiles(const PictureCoder& coder, const std::vector<std::filesystem::path>& paths,
                      const RunRequest& run) {
  return TupleOf(RunToTheEnd(run, [&](const RunContext& context) {
    const auto encode = [&](size_t i) {
      return InContext(paths[i].string(), [&] {
        return coder.Encode(Env::Posix().Read(paths[i], MaxPictureBytes()));
      });
    };
    return EncodeAll(coder, paths.size(), encode, context);
  }));
}

py::tuple EncodeBytes(const PictureCoder& coder, const std::vector<py::bytes>& pictures,
                      const RunRequest& run) {
  std::vector<std::span<const std::byte>> views;
  views.reserve(pictures.size());
  for (const py::bytes& picture : pictures) views.push_back(ViewOf(picture));
  return TupleOf(RunToTheEnd(run, [&](const RunContext& context) {
    const auto encode = [&](size_t i) {
      return InContext(fmt::format("pictures[{}]", i), [&] { return coder.Encode(views[i]); });
    };
    return EncodeAll(coder, views.size(), encode, context);
  }));
}

// All that a library records about pictures, and their thumbnails, if they are wanted.
std::vector<ExaminedPicture> ExamineAll(const PictureCoder& coder,
                                        const std::vector<std::filesystem::path>& paths,
                                        bool thumbnails, const RunContext& context) {
  LibraryUpdate update;
  update.read = [](const FoundPicture& found) {
    return Env::Posix().Read(found.path, MaxPictureBytes());
  };
  update.encoding.bits = coder.bits();
  update.encoding.digest = coder.digest();
  update.encoding.encode = [&](std::span<const std::byte> bytes) { return coder.Encode(bytes); };
  if (thumbnails) update.encoding.thumbnail = MakeThumbnail;
  std::vector<ExaminedPicture> examined(paths.size());
  Progress progress = context.StartProgress("encoding", "pictures", paths.size());
  context.ParallelFor(paths.size(), 1, [&](size_t i, size_t /*end*/) {
    examined[i] = ExaminePicture(update, {.path = paths[i].string()}, nullptr);
    progress.Advance();
  });
  return examined;
}

py::dict DictOf(const ExaminedPicture& examined) {
  const CataloguedPicture& picture = examined.picture;
  py::dict fields;
  fields["code"] = BytesOf(std::as_bytes(std::span(picture.code)));
  fields["width"] = picture.width;
  fields["height"] = picture.height;
  fields["checksum"] = picture.content_hash;
  fields["failure"] = examined.reason.empty() ? picture.failure : examined.reason;
  fields["thumbnail"] = BytesOf(examined.thumbnail);
  return fields;
}

py::list ExamineFiles(const PictureCoder& coder, const std::vector<std::filesystem::path>& paths,
                      bool thumbnails, const RunRequest& run) {
  py::list listed;
  for (const ExaminedPicture& examined : RunToTheEnd(run, [&](const RunContext& context) {
         return ExamineAll(coder, paths, thumbnails, context);
       })) {
    listed.append(DictOf(examined));
  }
  return listed;
}

PictureCoder OpenCoderFile(const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  return OpenCoder(Env::Posix(), path);
}

py::tuple Learn(const std::vector<std::filesystem::path>& paths, const std::string& method,
                int bits, Index max_pictures, const std::filesystem::path& scratch,
                const RunRequest& run) {
  const CoderTraining training{.hash = {.method = method, .bits = bits}, .pictures = max_pictures};
  TrainedCoder trained = RunToTheEnd(run, [&](const RunContext& context) {
    return TrainCoder(Env::Posix(), training, paths, scratch, context);
  });
  return py::make_tuple(std::move(trained.coder), ListFailed(trained.failed));
}

// --- Libraries

py::list MatchesOf(const QueryAnswer& answer) {
  py::list matches;
  for (const QueryMatch& found : answer.matches) {
    py::dict match = DictOf(found.picture);
    match["distance"] = found.distance;
    match["score"] = found.score;
    match["mirrored"] = found.mirrored;
    matches.append(match);
  }
  return matches;
}

QueryOptions QueryOptionsOf(int64_t k, bool by_distance, bool mirrored) {
  return {.k = k,
          .order = by_distance ? QueryOrder::kHamming : QueryOrder::kScore,
          .mirrored = mirrored};
}

py::list QueryBytes(const PictureLibrary& library, const py::bytes& picture, int64_t k,
                    bool by_distance, bool mirrored, const RunRequest& run) {
  const std::span<const std::byte> bytes = ViewOf(picture);
  return MatchesOf(RunToTheEnd(run, [&](const RunContext& context) {
    return library.Query(bytes, QueryOptionsOf(k, by_distance, mirrored), context);
  }));
}

py::list QueryFile(const PictureLibrary& library, const std::filesystem::path& picture, int64_t k,
                   bool by_distance, bool mirrored, const RunRequest& run) {
  return MatchesOf(RunToTheEnd(run, [&](const RunContext& context) {
    return library.QueryFile(picture, QueryOptionsOf(k, by_distance, mirrored), context);
  }));
}

py::list QueryId(const PictureLibrary& library, uint64_t id, int64_t k, const RunRequest& run) {
  return MatchesOf(RunToTheEnd(run, [&](const RunContext& context) {
    return library.QueryId(id, QueryOptionsOf(k, true, false), context);
  }));
}

py::dict DictOf(const DuplicatePicture& one) {
  py::dict picture = DictOf(one.picture);
  picture["distance"] = one.distance;
  picture["keep"] = one.keep;
  picture["marked"] = one.marked;
  picture["compared_with"] = one.compared_with;
  picture["kind"] = one.compared_with ? py::object(py::str(NameOf(one.evidence.kind))) : py::none();
  picture["what"] = one.compared_with ? WordsOf(one.evidence) : std::string();
  return picture;
}

py::tuple Duplicates(const PictureLibrary& library, std::optional<int> radius, bool similar,
                     bool mirrored, const RunRequest& run) {
  const DuplicateSearch search{.radius = radius, .similar = similar, .mirrored = mirrored};
  const DuplicatesAnswer answer = RunToTheEnd(
      run, [&](const RunContext& context) { return library.Duplicates(search, context); });
  py::list groups;
  for (const DuplicateGroup& found : answer.groups) {
    py::list pictures;
    for (const DuplicatePicture& one : found.pictures) pictures.append(DictOf(one));
    groups.append(py::make_tuple(NameOf(found.kind), found.reason.words, pictures));
  }
  return py::make_tuple(answer.radius, groups);
}

// (id, kind, paths) of what the user decided.
py::tuple TupleOf(const Decision& decision) {
  const bool apart = decision.kind == DecisionKind::kNotDuplicates;
  py::list paths;
  paths.append(py::bytes(decision.first.path));
  if (apart) paths.append(py::bytes(decision.second.path));
  return py::make_tuple(decision.id, apart ? "not duplicates" : "keep", paths);
}

py::list ListDecisions(const PictureLibrary& library) {
  py::list decisions;
  for (const Decision& decision : library.ListDecisions()) decisions.append(TupleOf(decision));
  return decisions;
}

// What Python knows of a picture: a dictionary as ExamineFiles gives, or None.
using FindExamined = std::function<py::object(const py::bytes& path, uint64_t size, int64_t ns)>;

ExaminedPicture ExaminedOf(const py::object& known) {
  const auto fields = py::cast<py::dict>(known);
  const auto code = py::cast<std::string>(fields["code"]);
  const auto thumbnail = py::cast<std::string>(fields["thumbnail"]);
  ExaminedPicture examined;
  examined.picture.code = {code.begin(), code.end()};
  examined.picture.width = py::cast<Index>(fields["width"]);
  examined.picture.height = py::cast<Index>(fields["height"]);
  examined.picture.content_hash = py::cast<uint64_t>(fields["checksum"]);
  examined.picture.failure = py::cast<std::string>(fields["failure"]);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(thumbnail));
  examined.thumbnail = {bytes.begin(), bytes.end()};
  examined.fate = examined.picture.failure.empty() ? PictureFate::kEncoded : PictureFate::kFailed;
  return examined;
}

ExaminedElsewhere ElsewhereOf(const std::string& digest, const std::optional<FindExamined>& find) {
  if (!find) return {};
  return {.digest = digest,
          .find = [find = *find](const FoundPicture& found) -> std::optional<ExaminedPicture> {
            const py::gil_scoped_acquire held;
            const py::object known = find(py::bytes(found.path), found.size, found.mtime_ns);
            if (known.is_none()) return std::nullopt;
            return ExaminedOf(known);
          }};
}

py::tuple Update(PictureLibrary& library, std::optional<int> bits,
                 const std::filesystem::path& coder, bool allow_empty, const std::string& digest,
                 const std::optional<FindExamined>& examined, const RunRequest& run) {
  std::optional<UpdateSummary> summary;
  const py::object interruption = RunWatched(run, [&](const RunContext& context) {
    summary = library.Update({.bits = bits,
                              .coder = coder,
                              .allow_empty = allow_empty,
                              .elsewhere = ElsewhereOf(digest, examined)},
                             context);
  });
  py::dict report;
  if (summary) {
    report["added"] = summary->added;
    report["changed"] = summary->changed;
    report["removed"] = summary->removed;
    report["unchanged"] = summary->unchanged;
    report["failed"] = ListFailed(summary->failed);
    report["stopped"] = summary->stopped;
  }
  return py::make_tuple(report, interruption);
}

uint64_t Count(const PictureLibrary& library) {
  const py::gil_scoped_release released;
  try {
    return library.Snapshot().catalogue().Count();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) return 0;  // nothing was indexed yet
    throw;
  }
}

std::unique_ptr<PictureLibrary> Create(const std::filesystem::path& folder,
                                       const std::filesystem::path& pictures) {
  const py::gil_scoped_release released;
  return PictureLibrary::Create(Env::Posix(), folder, pictures);
}

std::unique_ptr<PictureLibrary> OpenPictureLibrary(const std::filesystem::path& folder) {
  const py::gil_scoped_release released;
  return PictureLibrary::Open(Env::Posix(), folder);
}

py::object Find(const PictureLibrary& library, uint64_t id) {
  std::optional<CataloguedPicture> picture;
  {
    const py::gil_scoped_release released;
    picture = library.Find(id);
  }
  return picture ? py::object(DictOf(*picture)) : py::none();
}

py::bytes Thumbnail(const PictureLibrary& library, uint64_t id) {
  std::vector<std::byte> bytes;
  {
    const py::gil_scoped_release released;
    bytes = library.Thumbnail(id);
  }
  return BytesOf(bytes);
}

void BindCoder(py::module_& module) {
  const CoderTraining usual;
  py::class_<PictureCoder>(module, "Coder", "Turns pictures into codes. Never changes.")
      .def_static("open", &OpenCoderFile, py::arg("path"))
      .def_static("learn", &Learn, py::arg("paths"), py::arg("method") = usual.hash.method,
                  py::arg("n_bits") = usual.hash.bits, py::arg("max_pictures") = usual.pictures,
                  py::kw_only(), py::arg("scratch"), py::arg("run"))
      .def(
          "save",
          [](const PictureCoder& coder, const std::filesystem::path& path) {
            const py::gil_scoped_release released;
            SaveCoder(Env::Posix(), path, coder, IfExists::kReplace);
          },
          py::arg("path"))
      .def_property_readonly("n_bits", &PictureCoder::bits)
      .def_property_readonly("digest", &PictureCoder::digest)
      .def_property_readonly("method",
                             [](const PictureCoder& coder) { return coder.model().model.method; })
      .def("encode_files", &EncodeFiles, py::arg("paths"), py::arg("run"))
      .def("examine_files", &ExamineFiles, py::arg("paths"), py::arg("thumbnails"), py::arg("run"))
      .def("encode_bytes", &EncodeBytes, py::arg("pictures"), py::arg("run"));
}

}  // namespace

void BindPictures(py::module_& module) {
  BindCoder(module);
  py::class_<PictureLibrary>(module, "Library", "A folder of pictures that can be asked.")
      .def_static("create", &Create, py::arg("folder"), py::arg("pictures"))
      .def_static("open", &OpenPictureLibrary, py::arg("folder"))
      .def("update", &Update, py::arg("n_bits"), py::arg("coder"), py::arg("allow_empty"),
           py::arg("digest"), py::arg("examined"), py::arg("run"))
      .def("query_bytes", &QueryBytes, py::arg("picture"), py::arg("k"), py::arg("by_distance"),
           py::arg("mirrored"), py::arg("run"))
      .def("query_file", &QueryFile, py::arg("picture"), py::arg("k"), py::arg("by_distance"),
           py::arg("mirrored"), py::arg("run"))
      .def("query_id", &QueryId, py::arg("id"), py::arg("k"), py::arg("run"))
      .def("duplicates", &Duplicates, py::arg("radius"), py::arg("similar"), py::arg("mirrored"),
           py::arg("run"))
      .def(
          "decide_not_duplicates",
          [](const PictureLibrary& library, uint64_t first, uint64_t second) {
            return TupleOf(library.DecideNotDuplicates(first, second));
          },
          py::arg("first"), py::arg("second"))
      .def(
          "decide_to_keep",
          [](const PictureLibrary& library, uint64_t id) {
            return TupleOf(library.DecideToKeep(id));
          },
          py::arg("id"))
      .def("decisions", &ListDecisions)
      .def("undo_decision", &PictureLibrary::UndoDecision, py::arg("id"))
      .def("find", &Find, py::arg("id"))
      .def("thumbnail", &Thumbnail, py::arg("id"))
      .def("__len__", &Count);
}

}  // namespace bitpool::python
