#include "bitpool/catalog/code_table.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/catalog/postgres_database.h"

namespace bitpool {
namespace {

// A name as SQL takes it, whatever it contains.
std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string QuotedTable(const std::string& table) {
  const size_t point = table.find('.');
  if (table.empty() || table.find('\0') != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument, "expected the name of a table");
  }
  if (point == std::string::npos) return Quoted(table);
  return Quoted(table.substr(0, point)) + "." + Quoted(table.substr(point + 1));
}

// The length of the UTF-8 character that text begins with, or 0. PostgreSQL takes no NUL.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return overlong || beyond ? 0 : length;
}

std::string ToText(std::string_view path) {
  std::string text;
  while (!path.empty()) {
    const size_t length = CharacterLength(path);
    text += length == 0 ? "\xEF\xBF\xBD" : path.substr(0, length);
    path.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

}  // namespace

struct CodeTable::Writing {
  PostgresDatabase database;
  std::string table;
  int bits;
  bool paths;
  std::unique_ptr<PostgresCopy> copy = nullptr;
};

CodeTable::CodeTable(const std::string& address, const std::string& table, int bits, bool paths,
                     bool replace)
    : writing_(new Writing{.database = PostgresDatabase(address),
                           .table = QuotedTable(table),
                           .bits = bits,
                           .paths = paths}) {
  PostgresDatabase& database = writing_->database;
  const std::string& name = writing_->table;
  database.Execute("BEGIN");
  const PostgresResult there =
      database.QueryOnce("SELECT to_regclass($1) IS NOT NULL", PostgresParameters().AddText(name));
  if (there.Number(0, 0) != 0) {
    if (!replace) {
      throw Error(ErrorCode::kInvalidArgument, database.name(),
                  fmt::format("there is a table {} already", table));
    }
    database.Execute(fmt::format("DROP TABLE {}", name));
  }
  database.Execute(fmt::format("CREATE TABLE {}(id bigint NOT NULL, code bit({}) NOT NULL{})", name,
                               bits, paths ? ", path text" : ""));
  writing_->copy = std::make_unique<PostgresCopy>(database, name);
}

CodeTable::~CodeTable() = default;

void CodeTable::Add(int64_t id, std::span<const uint8_t> code, std::string_view path) {
  writing_->copy->StartRow(writing_->paths ? 3 : 2);
  writing_->copy->Add(id);
  writing_->copy->AddBits(code, writing_->bits);
  if (writing_->paths) writing_->copy->AddBytes(ToText(path));
}

void CodeTable::Finish() {
  PostgresDatabase& database = writing_->database;
  writing_->copy->Finish();
  database.Execute(fmt::format("ALTER TABLE {} ADD PRIMARY KEY(id)", writing_->table));
  database.Execute("COMMIT");
  database.Execute(fmt::format("ANALYZE {}", writing_->table));
}

}  // namespace bitpool
