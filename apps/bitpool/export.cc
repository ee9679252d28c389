#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/catalog/code_table.h"
#include "bitpool/catalog/postgres_address.h"
#include "bitpool/index/code_files.h"
#include "bitpool/index/index_file.h"
#include "bitpool/library/code_export.h"
#include "bitpool/library/picture_library.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct ExportCommand {
  std::string address, table = "bitpool_codes";
  std::string library, index_file, codes;  // one of them
  int bits = 0;
  IfExists if_exists = IfExists::kFail;
};

struct Exported {
  Index codes = 0;
  int bits = 0;
};

// `source` is a library or an index, `index` has its codes.
template <class Source>
Exported ExportTo(const ExportCommand& command, const Source& source, const IndexSnapshot& index,
                  const RunContext& context) {
  CodeTable table(command.address, command.table, index.bits(), !command.library.empty(),
                  command.if_exists == IfExists::kReplace);
  ExportCodes(source, context,
              [&table](int64_t id, auto code, auto path) { table.Add(id, code, path); });
  table.Finish();
  return {.codes = index.size(), .bits = index.bits()};
}

Exported ExportLibrary(const ExportCommand& command, const RunContext& context) {
  const auto library = PictureLibrary::Open(Env::Posix(), command.library);
  const LibrarySnapshot snapshot = library->Snapshot();
  return ExportTo(command, snapshot, snapshot.index(), context);
}

std::unique_ptr<CodeIndex> OpenCodes(const ExportCommand& command, const RunContext& context) {
  if (!command.index_file.empty())
    return OpenIndex(Env::Posix(), command.index_file, true, context);
  const BinaryCodes codes = LoadCodes(
      Env::Posix(), command.codes, command.bits == 0 ? std::nullopt : std::optional(command.bits));
  return MakeIndex(codes, IndexKind::kFlat, context);
}

Exported ExportIndex(const ExportCommand& command, const RunContext& context) {
  const IndexSnapshot index = OpenCodes(command, context)->Snapshot();
  return ExportTo(command, index, index, context);
}

int Export(const ExportCommand& command, const Session& session) {
  const int sources = static_cast<int>(!command.library.empty()) +
                      static_cast<int>(!command.index_file.empty()) +
                      static_cast<int>(!command.codes.empty());
  if (sources != 1) {
    throw Error(ErrorCode::kInvalidArgument, "expected one of --library, --index-file and --codes");
  }
  if (!IsPostgresAddress(command.address)) {
    throw Error(ErrorCode::kInvalidArgument, "--postgres: expected postgresql://HOST/DATABASE");
  }
  const RunContext context = session.MakeContext();
  const Exported exported =
      command.library.empty() ? ExportIndex(command, context) : ExportLibrary(command, context);
  const std::string name = ShownAddress(command.address);
  if (session.json()) {
    Session::Print(nlohmann::json{{"database", name},
                                  {"table", command.table},
                                  {"codes", exported.codes},
                                  {"bits", exported.bits}});
  } else {
    session.Say(fmt::format("{}: table {} has {} codes of {} bits", name, command.table,
                            exported.codes, exported.bits));
  }
  return kExitFine;
}

}  // namespace

void AddExport(CLI::App& app, Session& session) {
  const auto command = std::make_shared<ExportCommand>();
  CLI::App* sub =
      app.add_subcommand("export", "Write codes to a database, to be searched there in SQL");
  sub->add_option(
         "--postgres", command->address,
         "The database: postgresql://HOST/DATABASE; a password is taken from PGPASSFILE or "
         "~/.pgpass")
      ->required();
  sub->add_option("--table", command->table, "The table to make: NAME or SCHEMA.NAME")
      ->capture_default_str();
  sub->add_option("--library", command->library, "Codes of a library, with paths");
  sub->add_option("--index-file", command->index_file, "Codes of an index (.bpi)");
  sub->add_option("--codes", command->codes,
                  "Codes of a file: .npy of bytes with a row per code, .bpv or .hex");
  sub->add_option("--bits", command->bits,
                  "Length of the codes of a file, when it is not that of their bytes");
  AddForce(sub, command->if_exists);
  sub->footer(
      "The table has the columns id, code (bit(n), character i is bit i) and, of a library, path. "
      "It is there when it is complete.\n\nExample:\n  bitpool export --postgres "
      "postgresql://db.example/photos --library ~/Pictures/.bitpool\n  psql -c \"SELECT path FROM "
      "bitpool_codes ORDER BY bit_count(code # B'0101...') LIMIT 10\"");
  sub->callback([command, &session] {
    session.action = [command, &session] { return Export(*command, session); };
  });
}

}  // namespace bitpool::app
