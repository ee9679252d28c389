#include "bitpool/linalg/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

[[noreturn]] void RefuseShard(const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, problem);
}

const MatrixF& NotedColumns(Shard& shard, const std::string& name, bool needed) {
  static const MatrixF none;
  if (!needed) return none;
  const MatrixF& noted = shard.Matrix(name);
  if (noted.cols() != shard.place().count || (noted.rows() == 0 && noted.cols() > 0)) {
    RefuseShard(fmt::format("the shard has {} samples and {} columns \"{}\"", shard.place().count,
                            noted.cols(), name));
  }
  return noted;
}

}  // namespace

Shard::Shard(ShardPlace place) : place_(place) { place_.Validate(); }

Shard::Shard(const ColumnSource& all) : Shard({.count = all.size(), .total = all.size()}) {
  Give(kInputs, all);
}

void Shard::Give(const std::string& name, const ColumnSource& columns) {
  if (columns.size() != place_.count) {
    RefuseShard(fmt::format("columns \"{}\" of a shard: expected {}, one per sample, got {}", name,
                            place_.count, columns.size()));
  }
  given_[name] = &columns;
}

const ColumnSource* Shard::given(const std::string& name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : found->second;
}

template <class T>
T& Shard::Note(const std::string& name) {
  auto& note = notes_.try_emplace(name, std::in_place_type<T>).first->second;
  if (!std::holds_alternative<T>(note)) {
    throw Error(ErrorCode::kInternal,
                fmt::format("the note \"{}\" of a shard is of another type", name));
  }
  return std::get<T>(note);
}

template MatrixF& Shard::Note<MatrixF>(const std::string& name);
template std::vector<uint8_t>& Shard::Note<std::vector<uint8_t>>(const std::string& name);
template std::vector<int32_t>& Shard::Note<std::vector<int32_t>>(const std::string& name);

const MatrixF* Shard::noted(const std::string& name) const {
  const auto found = notes_.find(name);
  return found == notes_.end() ? nullptr : std::get_if<MatrixF>(&found->second);
}

void Shard::VisitNotes(FieldVisitor& fields) {
  std::vector<std::string> names;
  std::vector<int32_t> types;
  for (const auto& [name, note] : notes_) {
    names.push_back(name);
    types.push_back(static_cast<int32_t>(note.index()));
  }
  fields.Visit("notes", names);
  fields.Visit("note_types", types);
  if (names.size() != types.size()) RefuseShard("notes of a shard: expected a type for each");
  for (size_t i = 0; i < names.size(); ++i) {
    auto& note = notes_[names[i]];
    if (note.index() != static_cast<size_t>(types[i])) note = BlankNote(types[i]);
    std::visit([&](auto& values) { fields.Visit("note." + names[i], values); }, note);
  }
  std::erase_if(notes_, [&](const auto& note) {
    return std::ranges::find(names, note.first) == names.end();
  });
}

Shard::AnyNote Shard::BlankNote(int32_t type) {
  switch (type) {
    case 0:
      return MatrixF();
    case 1:
      return std::vector<uint8_t>();
    case 2:
      return std::vector<int32_t>();
    default:
      RefuseShard(fmt::format("notes of a shard: there is no type {}", type));
  }
}

ShardColumns::ShardColumns(Shard& shard, const std::string& name)
    : given_(shard.given(name)), noted_(NotedColumns(shard, name, given_ == nullptr)) {}

LocalShards::LocalShards(std::vector<Shard*> shards) : shards_(std::move(shards)) {
  std::vector<ShardPlace> places;
  for (const Shard* shard : shards_) places.push_back(shard->place());
  size_ = RequireWhole(places);
}

void LocalShards::Run(Pass& pass, const RunContext& context,
                      const std::function<void(Part&)>& take) {
  for (Shard* shard : shards_) take(*pass.Compute(*shard, context));
}

Index RequireWhole(const std::vector<ShardPlace>& places) {
  if (places.empty()) RefuseShard("there are no shards");
  Index next = 0;
  for (const ShardPlace& place : places) {
    place.Validate();
    if (place.first != next || place.total != places.front().total) {
      RefuseShard(
          fmt::format("shards: expected one of {} samples from sample {} on, got one of {} from "
                      "sample {} on",
                      places.front().total, next, place.total, place.first));
    }
    next += place.count;
  }
  if (next != places.front().total) {
    RefuseShard(fmt::format("shards: {} of {} samples are missing", places.front().total - next,
                            places.front().total));
  }
  return next;
}

}  // namespace bitpool
