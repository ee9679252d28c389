#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bitpool/hash/contrast.h"
#include "bitpool/hash/sah.h"
#include "bitpool/io/container.h"
#include "bitpool/io/env.h"

namespace bitpool {

// Writes where a training stands, in place of an older checkpoint. `job` is whatever distinguishes
// the job, its settings and its data: only the same job may resume.
// REQUIRES: the state after an iteration.
void SaveCheckpoint(Env& env, const std::filesystem::path& path, const JointState& state,
                    const nlohmann::json& job);

// The state as it was saved, to the last bit. Throws kInvalidArgument, naming the first key that
// differs, when another job made it, and kCorrupt, naming the section, for anything that is not a
// complete state.
JointState LoadCheckpoint(Env& env, const std::filesystem::path& path, const nlohmann::json& job);
JointState ParseCheckpoint(const Container& container, const nlohmann::json& job);

// The same for the contrast of views.
void SaveCheckpoint(Env& env, const std::filesystem::path& path, const ContrastState& state,
                    const nlohmann::json& job);
ContrastState LoadContrastCheckpoint(Env& env, const std::filesystem::path& path,
                                     const nlohmann::json& job);
ContrastState ParseContrastCheckpoint(const Container& container, const nlohmann::json& job);

}  // namespace bitpool
