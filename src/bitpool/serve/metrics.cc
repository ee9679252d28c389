#include "bitpool/serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace bitpool {

RouteMetrics::RouteMetrics(std::vector<std::string> routes)
    : names_(std::move(routes)), figures_(names_.size()) {}

void RouteMetrics::Count(size_t route, int status, double seconds) {
  Figures& figures = figures_[route];
  constexpr auto kRelaxed = std::memory_order_relaxed;
  figures.by_status[static_cast<size_t>(std::clamp(status, 0, kStatuses - 1))].fetch_add(1,
                                                                                         kRelaxed);
  const auto bucket =
      static_cast<size_t>(std::ranges::lower_bound(kBuckets, seconds) - kBuckets.begin());
  figures.by_time[bucket].fetch_add(1, kRelaxed);
  figures.nanoseconds.fetch_add(static_cast<uint64_t>(std::max(0.0, seconds) * 1e9), kRelaxed);
}

void RouteMetrics::AppendHistogram(size_t route, std::string& text) const {
  const std::string label = LabelText(names_[route]);
  const Figures& figures = figures_[route];
  uint64_t total = 0;
  for (size_t i = 0; i < figures.by_time.size(); ++i) {
    total += figures.by_time[i];
    const std::string end = i < kBuckets.size() ? fmt::format("{:g}", kBuckets[i]) : "+Inf";
    text += fmt::format("bitpool_request_seconds_bucket{{route=\"{}\",le=\"{}\"}} {}\n", label, end,
                        total);
  }
  text += fmt::format("bitpool_request_seconds_sum{{route=\"{}\"}} {}\n", label,
                      static_cast<double>(figures.nanoseconds) / 1e9);
  text += fmt::format("bitpool_request_seconds_count{{route=\"{}\"}} {}\n", label, total);
}

std::string RouteMetrics::ToText() const {
  std::string text =
      "# HELP bitpool_requests_total Requests that were answered.\n"
      "# TYPE bitpool_requests_total counter\n";
  std::string histograms =
      "# HELP bitpool_request_seconds From the head of a request to its answer.\n"
      "# TYPE bitpool_request_seconds histogram\n";
  for (size_t route = 0; route < names_.size(); ++route) {
    bool asked = false;
    for (size_t status = 0; status < kStatuses; ++status) {
      const uint64_t count = figures_[route].by_status[status];
      if (count == 0) continue;
      asked = true;
      text += fmt::format("bitpool_requests_total{{route=\"{}\",status=\"{}\"}} {}\n",
                          LabelText(names_[route]), status, count);
    }
    if (asked) AppendHistogram(route, histograms);
  }
  return text + histograms;
}

std::string GaugeText(std::string_view name, std::string_view help, double value) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n{0} {2}\n", name, help, value);
}

std::string CounterText(std::string_view name, std::string_view help, uint64_t value) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} counter\n{0} {2}\n", name, help, value);
}

std::string LabelText(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace bitpool
