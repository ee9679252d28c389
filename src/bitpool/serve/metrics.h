#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bitpool {

// Counts requests by route and status, and how long they took, without locks.
class RouteMetrics {
 public:
  // The upper ends of the buckets of the histogram, in seconds; the last bucket has none.
  static constexpr std::array kBuckets = {0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                                          0.005,  0.01,    0.025,  0.05,  0.1,
                                          0.25,   0.5,     1.0,    2.5,   10.0};

  // Names of the routes, by their places.
  explicit RouteMetrics(std::vector<std::string> routes);

  void Count(size_t route, int status, double seconds);
  // In the text format of Prometheus.
  std::string ToText() const;

 private:
  static constexpr int kStatuses = 600;
  struct Figures {
    std::array<std::atomic<uint64_t>, kStatuses> by_status{};
    std::array<std::atomic<uint64_t>, kBuckets.size() + 1> by_time{};
    std::atomic<uint64_t> nanoseconds = 0;
  };
  void AppendHistogram(size_t route, std::string& text) const;

  std::vector<std::string> names_;
  std::vector<Figures> figures_;
};

// One figure, with what it means, in the text format of Prometheus.
std::string GaugeText(std::string_view name, std::string_view help, double value);
std::string CounterText(std::string_view name, std::string_view help, uint64_t value);
// A label's value as it is written between quotation marks in that format.
std::string LabelText(std::string_view value);

}  // namespace bitpool
