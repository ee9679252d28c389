#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "bitpool/catalog/catalogue.h"

namespace bitpool {

struct ReplicaOptions {
  int poll_ms = 5000;  // how often to look for changes that were not announced
  // Called on another thread when the original goes away and when it is back; may be empty.
  std::function<void(const std::string&)> tell = {};
};

// A copy of a catalogue in PostgreSQL, for reading, in an SQLite file on this machine, which
// follows the original. Snapshots are of the copy: they need no round trip to the database, and can
// always be had, even when it is away. The copy goes from one version of the original to another in
// one step, so that every snapshot is of a single version; it is a few milliseconds behind. What
// only writers need, the pictures that are gathered with the codes of a new coder, is not copied.
//
// `file` is brought up to date where it is a copy of the same catalogue from an earlier time, and
// otherwise replaced. REQUIRES: no other process uses it. Throws as OpenCatalogue.
std::unique_ptr<Catalogue> OpenCatalogueReplica(const std::string& address,
                                                const std::filesystem::path& file,
                                                const ReplicaOptions& options = {});

}  // namespace bitpool
