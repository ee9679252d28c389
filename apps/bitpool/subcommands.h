#pragma once

#include "session.h"

namespace bitpool::app {

// One function per subcommand, each in its own file.
void AddCoder(CLI::App& app, Session& session);
void AddConvert(CLI::App& app, Session& session);
void AddData(CLI::App& app, Session& session);
void AddDedupe(CLI::App& app, Session& session);
void AddEncode(CLI::App& app, Session& session);
void AddEval(CLI::App& app, Session& session);
void AddExperiment(CLI::App& app, Session& session);
void AddExport(CLI::App& app, Session& session);
void AddExtract(CLI::App& app, Session& session);
void AddIndex(CLI::App& app, Session& session);
void AddIndexCodes(CLI::App& app, Session& session);
void AddInspect(CLI::App& app, Session& session);
void AddPool(CLI::App& app, Session& session);
void AddQuery(CLI::App& app, Session& session);
void AddReproduce(CLI::App& app, Session& session);
void AddSearch(CLI::App& app, Session& session);
void AddServe(CLI::App& app, Session& session);
void AddTrain(CLI::App& app, Session& session);
void AddTruth(CLI::App& app, Session& session);
void AddTune(CLI::App& app, Session& session);
void AddVerify(CLI::App& app, Session& session);

}  // namespace bitpool::app
