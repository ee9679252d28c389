#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "session.h"

namespace bitpool::app {

// A result, as JSON or as a table.
int Show(const Session& session, const nlohmann::json& found,
         std::string (*readable)(const nlohmann::json&));

// A subcommand each.
void AddHammingBench(CLI::App* parent, Session& session);
void AddAsymmetricBench(CLI::App* parent, Session& session);
void AddTrainingBench(CLI::App* parent, Session& session);
void AddPoolingBench(CLI::App* parent, Session& session);
void AddQuantisationBench(CLI::App* parent, Session& session);
void AddDuplicatesBench(CLI::App* parent, Session& session);
void AddMatchingBench(CLI::App* parent, Session& session);
void AddLibraryBench(CLI::App* parent, Session& session);
void AddServeBench(CLI::App* parent, Session& session);

}  // namespace bitpool::app
