#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "bitpool/catalog/postgres_database.h"

// Shared by the tests of catalogues and libraries in PostgreSQL.
namespace bitpool::testing {

// A server of this process's own, started when it is first asked for.
class PostgresServer {
 public:
  // Null where PostgreSQL is not installed.
  static const PostgresServer* Get() {
    static const PostgresServer server;
    return server.folder_.empty() ? nullptr : &server;
  }

  // The address of a new, empty database.
  std::string MakeDatabase() const {
    static int number = 0;
    const std::string name = "test_" + std::to_string(++number);
    PostgresDatabase(Address("postgres")).Execute("CREATE DATABASE " + name);
    return Address(name);
  }

  void Kill() const { Run("kill"); }
  void Restart() const { Run("restart"); }

 private:
  static constexpr int kSkipped = 77;

  PostgresServer() {
    const std::string command = fmt::format("exec {} start", BITPOOL_POSTGRES_SERVER);
    FILE* pipe = popen(command.c_str(), "r");
    char line[1000] = "";
    const bool read = pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr;
    const int status = pipe == nullptr ? -1 : pclose(pipe);
    if (status == kSkipped << 8) return;  // the exit status as wait() gives it
    if (!read || status != 0) ADD_FAILURE() << "the server did not start";
    folder_ = line;
    folder_.pop_back();  // the newline
  }
  ~PostgresServer() {
    if (!folder_.empty()) Run("stop");
  }

  std::string Address(const std::string& database) const {
    return fmt::format("postgresql://tester:very-secret@/{}?host={}", database, folder_);
  }
  void Run(const std::string& verb) const {
    const std::string command = fmt::format("{} {} {}", BITPOOL_POSTGRES_SERVER, verb, folder_);
    if (std::system(command.c_str()) != 0) ADD_FAILURE() << command;
  }

  std::string folder_;
};

// A test with an empty database of its own; skipped where PostgreSQL is not installed.
class PostgresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = PostgresServer::Get();
    if (server_ == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
    address_ = server_->MakeDatabase();
  }

  const PostgresServer* server_ = nullptr;
  std::string address_;
};

}  // namespace bitpool::testing
