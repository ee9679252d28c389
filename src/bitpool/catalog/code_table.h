#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace bitpool {

// Writes codes to a new table of a PostgreSQL database, for those who search them in SQL:
//   id bigint PRIMARY KEY, code bit(n) NOT NULL, path text
// Character i of a code is its bit i. Others see the table, complete, after Finish, or not at all.
// Throws kInvalidArgument when there is such a table already, unless it is to be replaced.
class CodeTable {
 public:
  // `table` is a name, or SCHEMA.NAME. `paths`: with the third column.
  CodeTable(const std::string& address, const std::string& table, int bits, bool paths,
            bool replace);
  ~CodeTable();
  CodeTable(const CodeTable&) = delete;
  CodeTable& operator=(const CodeTable&) = delete;

  // `path` is for a table with paths; what is not UTF-8 in it becomes U+FFFD.
  void Add(int64_t id, std::span<const uint8_t> code, std::string_view path = {});
  void Finish();

 private:
  struct Writing;
  std::unique_ptr<Writing> writing_;
};

}  // namespace bitpool
