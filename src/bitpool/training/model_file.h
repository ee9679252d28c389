#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bitpool/hash/hash_model.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/container.h"
#include "bitpool/io/env.h"

namespace bitpool {

// A model with what is remembered of its training.
struct StoredModel {
  HashModel model;
  nlohmann::json training;  // options, data and summary, for later readers of the file
};

// Writes a model to a container (.bpm).
void SaveModel(Env& env, const std::filesystem::path& path, const StoredModel& stored,
               IfExists if_exists);

// Throws kCorrupt, naming the section, for anything that is not a complete model.
StoredModel OpenModel(Env& env, const std::filesystem::path& path);
StoredModel ParseModel(const Container& container);

// The same for a container of another kind that has a model in it: the sections, and the metadata
// that goes with them.
nlohmann::json AddModel(ContainerWriter& writer, const StoredModel& stored);
StoredModel ReadModel(const Container& container);

}  // namespace bitpool
