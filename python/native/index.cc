// Codes under ids, searched exactly.
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "arrays.h"
#include "bindings.h"
#include "bitpool/io/memory_file.h"
#include "index_handle.h"
#include "jobs.h"

namespace bitpool::python {
namespace {

// What stands beside the id −1 where there are fewer results than asked for: as in Faiss, farther
// than anything.
constexpr int32_t kNoDistance = std::numeric_limits<int32_t>::max();
constexpr double kNoScore = -std::numeric_limits<double>::infinity();

// Searches that compare fewer bytes than this are over before a thread to watch them could be
// started.
constexpr double kBriefBytes = 64e6;

void RequireCount(int64_t k) {
  if (k >= 1) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("k: {}: expected 1 or more", k));
}

// Runs a search of this many queries, watched where it may take long.
template <class Search>
auto RunSearch(const IndexSnapshot& codes, Index queries, int threads, const Search& search) {
  const double bytes = static_cast<double>(codes.size()) * static_cast<double>(queries) *
                       static_cast<double>(BytesPerCode(codes.bits()));
  if (bytes > kBriefBytes) return RunToTheEnd({.threads = threads}, search);
  const py::gil_scoped_release released;
  return search(BriefContext(threads));
}

// Only the codes of these ids; ids that are not there are passed over.
IndexSnapshot Among(const IndexSnapshot& codes, std::vector<int64_t> ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  BinaryCodes chosen(codes.bits());
  std::vector<uint8_t> code(chosen.bytes_per_code());
  std::erase_if(ids, [&](int64_t id) {
    if (!codes.CopyCode(id, code)) return true;
    chosen.Append(code);
    return false;
  });
  CodeIndex index({.bits = codes.bits(), .kind = IndexKind::kFlat, .threads = 1});
  index.Add(chosen, ids);
  return index.Snapshot();
}

IndexSnapshot CodesToSearch(const IndexHandle& index, const std::optional<py::array>& among) {
  if (!among) return index.Snapshot();
  std::vector<int64_t> ids = IdsOf(*among, "among");
  const py::gil_scoped_release released;
  return Among(index.Snapshot(), std::move(ids));
}

// The answers as two arrays of (queries, k).
template <class Value, class Answer, class Take>
py::tuple ArraysOf(const BestOfEach<Answer>& found, Index queries, Value nothing,
                   const Take& take) {
  const py::array_t<Value> values({queries, static_cast<Index>(found.k)});
  const py::array_t<int64_t> ids({queries, static_cast<Index>(found.k)});
  auto* value = const_cast<Value*>(values.data());
  auto* id = const_cast<int64_t*>(ids.data());
  for (const Answer& answer : found.neighbours) {
    *id++ = answer.id;
    *value++ = answer.id < 0 ? nothing : take(answer);
  }
  return py::make_tuple(values, ids);
}

py::tuple Search(const IndexHandle& index, const py::array& queries, int64_t k,
                 const std::optional<py::array>& among, int threads) {
  RequireCount(k);
  const BinaryCodes asked = CodesOf(queries, index.bits(), "q");
  const IndexSnapshot codes = CodesToSearch(index, among);
  const SearchResult found =
      RunSearch(codes, asked.size(), threads,
                [&](const RunContext& context) { return codes.Search(asked, k, context); });
  return ArraysOf(found, asked.size(), kNoDistance,
                  [](const Neighbour& near) { return near.distance; });
}

py::tuple SearchReal(const IndexHandle& index, const py::array& queries, int64_t k,
                     const std::optional<py::array>& among, int threads) {
  RequireCount(k);
  const ArrayColumns weights(queries, "h");
  const IndexSnapshot codes = CodesToSearch(index, among);
  const RealSearchResult found = Explained(weights, [&](const ArrayColumns& columns) {
    return RunSearch(codes, columns.size(), threads, [&](const RunContext& context) {
      MatrixF buffer;
      return codes.SearchReal(columns.Read(0, columns.size(), buffer), k, {}, context);
    });
  });
  return ArraysOf(found, weights.size(), kNoScore,
                  [](const ScoredNeighbour& near) { return near.score; });
}

py::tuple RangeSearch(const IndexHandle& index, const py::array& queries, int radius, int threads) {
  const BinaryCodes asked = CodesOf(queries, index.bits(), "q");
  const IndexSnapshot codes = index.Snapshot();
  const auto found = RunSearch(codes, asked.size(), threads, [&](const RunContext& context) {
    return codes.RangeSearch(asked, radius, context);
  });
  std::vector<int64_t> ends{0}, ids;
  std::vector<int32_t> distances;
  for (const auto& list : found) {
    for (const Neighbour& near : list) {
      ids.push_back(near.id);
      distances.push_back(near.distance);
    }
    ends.push_back(static_cast<int64_t>(ids.size()));
  }
  const auto count = static_cast<py::ssize_t>(ids.size());
  const auto lims = static_cast<py::ssize_t>(ends.size());
  return py::make_tuple(ArrayOf(std::move(ends), {lims}), ArrayOf(std::move(distances), {count}),
                        ArrayOf(std::move(ids), {count}));
}

py::tuple Pairs(const IndexHandle& index, int radius, const RunRequest& run) {
  const IndexSnapshot codes = index.Snapshot();
  const auto pairs = RunToTheEnd(run, [&](const RunContext& context) {
    std::vector<IdPair> all;
    codes.FindPairs(radius, context, [&](std::span<const IdPair> some) {
      all.insert(all.end(), some.begin(), some.end());
    });
    std::ranges::sort(all, {},
                      [](const IdPair& pair) { return std::pair(pair.first, pair.second); });
    return all;
  });
  const auto count = static_cast<py::ssize_t>(pairs.size());
  std::vector<int64_t> first, second;
  std::vector<int32_t> distances;
  for (const IdPair& pair : pairs) {
    first.push_back(pair.first);
    second.push_back(pair.second);
    distances.push_back(pair.distance);
  }
  return py::make_tuple(ArrayOf(std::move(first), {count}), ArrayOf(std::move(second), {count}),
                        ArrayOf(std::move(distances), {count}));
}

py::list Groups(const IndexHandle& index, int radius, const RunRequest& run) {
  const IndexSnapshot codes = index.Snapshot();
  py::list groups;
  for (std::vector<int64_t>& group : RunToTheEnd(
           run, [&](const RunContext& context) { return codes.FindGroups(radius, context); })) {
    const auto count = static_cast<py::ssize_t>(group.size());
    groups.append(ArrayOf(std::move(group), {count}));
  }
  return groups;
}

py::array_t<int64_t> Add(IndexHandle& index, const py::array& codes,
                         const std::optional<py::array>& given) {
  const BinaryCodes added = CodesOf(codes, index.bits(), "codes");
  std::vector<int64_t> ids = given ? IdsOf(*given, "ids") : std::vector<int64_t>();
  {
    const py::gil_scoped_release released;
    if (given) {
      InContext("ids", [&] { index.Add(added, ids); });
    } else {
      ids = index.Add(added);
    }
  }
  return ArrayOf(std::move(ids), {added.size()});
}

size_t Remove(IndexHandle& index, const py::array& ids) {
  const std::vector<int64_t> removed = IdsOf(ids, "ids");
  const py::gil_scoped_release released;
  return index.Remove(removed);
}

void Replace(IndexHandle& index, const py::array& ids, const py::array& codes) {
  const std::vector<int64_t> replaced = IdsOf(ids, "ids");
  const BinaryCodes added = CodesOf(codes, index.bits(), "codes");
  const py::gil_scoped_release released;
  InContext("ids", [&] { index.Replace(replaced, added); });
}

py::array_t<uint8_t> Reconstruct(const IndexHandle& index, const py::array& ids) {
  const IndexSnapshot codes = index.Snapshot();
  BinaryCodes found(index.bits());
  std::vector<uint8_t> code(found.bytes_per_code());
  for (const int64_t id : IdsOf(ids, "ids")) {
    if (!codes.CopyCode(id, code)) throw py::key_error(std::to_string(id));
    found.Append(code);
  }
  return ArrayOfCodes(std::move(found));
}

void Save(const IndexHandle& index, const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  index.Save(Env::Posix(), path);
}

std::unique_ptr<IndexHandle> OpenIndexHandle(const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  return std::make_unique<IndexHandle>(IndexFile::Open(Env::Posix(), path), true);
}

std::unique_ptr<IndexHandle> Parse(std::string name, std::vector<std::byte> bytes) {
  return std::make_unique<IndexHandle>(
      IndexFile::Parse(FileView::FromBytes(std::move(name), std::move(bytes))), false);
}

std::unique_ptr<IndexHandle> LoadIndexHandle(const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  return Parse(path.string(), Env::Posix().Read(path, std::numeric_limits<uint64_t>::max()));
}

py::bytes ToBytes(const IndexHandle& index) {
  std::vector<std::byte> bytes;
  {
    const py::gil_scoped_release released;
    bytes =
        WriteToMemory([&](Env& env, const std::filesystem::path& path) { index.Save(env, path); });
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::unique_ptr<IndexHandle> FromBytes(const py::bytes& bytes) {
  const std::span<const std::byte> view = std::as_bytes(std::span(std::string_view(bytes)));
  return Parse("bytes", {view.begin(), view.end()});
}

}  // namespace

void BindIndex(py::module_& module) {
  py::class_<IndexHandle>(module, "Index", "Codes under ids, searched exactly.")
      .def(py::init<int, const std::string&>(), py::arg("n_bits"), py::arg("layout"))
      .def_static("open", &OpenIndexHandle, py::arg("path"))
      .def_static("load", &LoadIndexHandle, py::arg("path"))
      .def_static("from_bytes", &FromBytes, py::arg("data"))
      .def("copy", &IndexHandle::CopyOf, py::call_guard<py::gil_scoped_release>())
      .def("save", &Save, py::arg("path"))
      .def("to_bytes", &ToBytes)
      .def_property_readonly("n_bits", &IndexHandle::bits)
      .def_property_readonly("layout", &IndexHandle::layout)
      .def("__len__", [](const IndexHandle& index) { return index.Snapshot().size(); })
      .def("__contains__",
           [](const IndexHandle& index, int64_t id) { return index.Snapshot().Contains(id); })
      .def("add", &Add, py::arg("codes"), py::arg("ids"))
      .def("remove", &Remove, py::arg("ids"))
      .def("replace", &Replace, py::arg("ids"), py::arg("codes"))
      .def("reconstruct", &Reconstruct, py::arg("ids"))
      .def("search", &Search, py::arg("q"), py::arg("k"), py::arg("among"), py::arg("n_threads"))
      .def("search_real", &SearchReal, py::arg("h"), py::arg("k"), py::arg("among"),
           py::arg("n_threads"))
      .def("range_search", &RangeSearch, py::arg("q"), py::arg("radius"), py::arg("n_threads"))
      .def("pairs", &Pairs, py::arg("radius"), py::arg("run"))
      .def("groups", &Groups, py::arg("radius"), py::arg("run"));
}

}  // namespace bitpool::python
