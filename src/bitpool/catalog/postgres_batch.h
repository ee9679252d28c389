#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/catalog/postgres_catalogue.h"
#include "bitpool/catalog/postgres_snapshot.h"

// What this room shares: changing a catalogue in PostgreSQL. Not for users.
namespace bitpool {

// `in_batch` was set for this batch, which clears it at its end. Where this throws, the caller
// does.
std::unique_ptr<CatalogueBatch> StartPostgresBatch(
    const std::shared_ptr<PostgresConnections>& connections, PictureSet set,
    const PostgresOptions& options, const std::shared_ptr<std::atomic<bool>>& in_batch);

// Pictures that are shared by the processes that change a catalogue.
std::unique_ptr<PictureClaims> MakePostgresClaims(const std::string& address, PictureSet set);

}  // namespace bitpool
