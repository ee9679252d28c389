#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace bitpool::bench {

// What a server gave under load.
struct LoadResult {
  double per_second = 0;
  double median_ms = 0;
  double p99_ms = 0;
  uint64_t answers = 0;
  double cpu_us = 0;      // processor time of the whole process per answer, clients included
  uint64_t failures = 0;  // other statuses than 200, and lost connections
};

struct LoadOptions {
  uint16_t port = 0;
  int connections = 64;
  int threads = 1;
  double seconds = 2;
};

// Keeps every connection busy with one request after the other (Boost.Beast). `request` gives the
// whole of the next one, on any thread.
LoadResult RunLoad(const LoadOptions& options, const std::function<std::string()>& request);

// Connections that only stay open.
class IdleConnections {
 public:
  IdleConnections(uint16_t port, int count);
  ~IdleConnections();
  IdleConnections(const IdleConnections&) = delete;
  IdleConnections& operator=(const IdleConnections&) = delete;

 private:
  struct Sockets;
  std::unique_ptr<Sockets> sockets_;
};

// The least that a server on Boost.Beast can do: "hello" to everything, on the threads that read.
class HelloServer {
 public:
  explicit HelloServer(int threads);
  ~HelloServer();
  HelloServer(const HelloServer&) = delete;
  HelloServer& operator=(const HelloServer&) = delete;

  uint16_t port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bitpool::bench
