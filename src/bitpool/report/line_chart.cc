#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include "bitpool/base/error.h"
#include "bitpool/report/chart.h"
#include "bitpool/report/chart_layout.h"
#include "bitpool/report/report_text.h"
#include "bitpool/report/svg_writer.h"

namespace bitpool {
namespace {

constexpr size_t kColours = 10;
constexpr size_t kShapes = 5;
constexpr size_t kLegendCharacters = 18;
constexpr double kPlotHeight = 290;
constexpr double kLabelGap = kFontSize + 3;
constexpr double kLeader = 26;       // from the plot to the label's marker
constexpr double kMarkerSize = 4.5;  // half of it

// A point that has a place in the chart.
struct Point {
  double x, y, spread;
};

using Points = std::vector<Point>;

void CheckSizes(const Series& series) {
  const bool spread_fits = series.spread.empty() || series.spread.size() == series.y.size();
  if (series.x.size() == series.y.size() && spread_fits) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("series \"{}\": expected as many y as x and as many or no spreads, got {} "
                  "x, {} y, {} spreads",
                  series.name, series.x.size(), series.y.size(), series.spread.size()));
}

// The runs of points between the gaps.
std::vector<Points> RunsOf(const Series& series, const LineChart& chart) {
  std::vector<Points> runs(1);
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!CanShow(series.x[i], chart.log_x) || !CanShow(series.y[i], chart.log_y)) {
      if (!runs.back().empty()) runs.emplace_back();
      continue;
    }
    const double spread = series.spread.empty() ? 0 : series.spread[i];
    const bool has_spread = CanShow(spread, false) && spread > 0;
    runs.back().push_back({series.x[i], series.y[i], has_spread ? spread : 0});
  }
  if (runs.back().empty()) runs.pop_back();
  return runs;
}

// The outline of a marker around a point: circle, square, triangle, diamond, triangle on its tip.
std::string MarkerPath(size_t series, double x, double y, double size) {
  const auto corners = [&](std::initializer_list<std::array<double, 2>> offsets) {
    std::string path;
    for (const auto& [dx, dy] : offsets) {
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L',
                     x + dx * size, y + dy * size);
    }
    return path + "Z";
  };
  switch (series % kShapes) {
    case 0:
      return fmt::format(
          "M{0:.1f} {1:.1f}a{2:.1f} {2:.1f} 0 1 0 {3:.1f} 0a{2:.1f} {2:.1f} 0 1 0 -{3:.1f} 0Z",
          x - size, y, size, 2 * size);
    case 1:
      return corners({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case 2:
      return corners({{0, -1.2}, {1.15, 0.85}, {-1.15, 0.85}});
    case 3:
      return corners({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}});
    default:
      return corners({{0, 1.2}, {1.15, -0.85}, {-1.15, -0.85}});
  }
}

class LinePlot {
 public:
  explicit LinePlot(const LineChart& chart) : chart_(chart), svg_(chart.title) {
    for (const Series& series : chart.series) {
      CheckSizes(series);
      runs_.push_back(RunsOf(series, chart));
    }
  }

  std::string Render() {
    if (!FitAxes()) return svg_.FinishWithoutData();
    PlaceFrame();
    svg_.Text(0, svg_.top() + kFontSize, "tick", chart_.y_label);
    svg_.VerticalAxis(*y_axis_, frame_);
    svg_.HorizontalAxis(*x_axis_, frame_);
    svg_.Line(frame_.left, frame_.bottom, frame_.right, frame_.bottom, "base");
    svg_.Text((frame_.left + frame_.right) / 2, frame_.bottom + 2 * kLineHeight, "tick middle",
              chart_.x_label);
    const std::vector<double> labels_at = LabelPositions();
    for (const bool emphasised : {false, true}) {
      for (size_t i = 0; i < runs_.size(); ++i) {
        if (chart_.series[i].emphasised == emphasised) DrawSeries(i, labels_at[i]);
      }
    }
    return svg_.Finish(frame_.bottom + 2 * kLineHeight + 8, Description());
  }

 private:
  bool FitAxes() {
    std::vector<double> x, y;
    for (const auto& runs : runs_) {
      for (const Points& run : runs) {
        for (const Point& point : run) {
          x.push_back(point.x);
          y.insert(y.end(), {point.y, point.y - point.spread, point.y + point.spread});
        }
      }
    }
    if (x.empty()) return false;
    x_axis_ = FitAxis(x, {.log = chart_.log_x, .ticks = chart_.x_ticks});
    y_axis_ = FitAxis(y, {.log = chart_.log_y, .ends_at_ticks = true});
    return true;
  }

  void PlaceFrame() {
    double tick_width = 0, label_width = 0;
    size_t labels = 0;
    for (const std::string& label : y_axis_->labels) {
      tick_width = std::max(tick_width, TextWidth(label));
    }
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].empty()) continue;
      ++labels;
      label_width = std::max(label_width, TextWidth(LabelOf(i)));
    }
    frame_.left = tick_width + 10;
    frame_.right = kChartWidth - kLeader - 10 - label_width;
    frame_.top = svg_.top() + kLineHeight + 16;
    frame_.bottom = frame_.top + std::max(kPlotHeight, kLabelGap * static_cast<double>(labels));
  }

  std::string LabelOf(size_t series) const {
    return Shortened(chart_.series[series].name, kLegendCharacters);
  }

  double X(double value) const {
    return frame_.left + x_axis_->Position(value) * (frame_.right - frame_.left);
  }
  double Y(double value) const {
    return frame_.bottom - y_axis_->Position(value) * (frame_.bottom - frame_.top);
  }

  // Beside the last point of each series, moved apart where they would overlap.
  std::vector<double> LabelPositions() const {
    std::vector<double> wanted;
    for (const auto& runs : runs_) {
      if (!runs.empty()) wanted.push_back(Y(runs.back().back().y));
    }
    const std::vector<double> moved = MoveApart(wanted, kLabelGap, frame_.top, frame_.bottom);
    std::vector<double> positions;
    size_t next = 0;
    for (const auto& runs : runs_) positions.push_back(runs.empty() ? 0 : moved[next++]);
    return positions;
  }

  void DrawSeries(size_t index, double label_y) {
    const std::vector<Points>& runs = runs_[index];
    if (runs.empty()) return;
    const bool hollow = index / kShapes % 2 == 1;
    const bool dashed = index / kColours % 2 == 1;
    svg_.OpenGroup(fmt::format("series s{}{}{}{}", index % kColours,
                               chart_.series[index].emphasised ? " strong" : "",
                               hollow ? " hollow" : "", dashed ? " dashed" : ""));
    for (const Points& run : runs) {
      DrawErrorBars(run);
      DrawLine(run);
    }
    for (const Points& run : runs) DrawMarkers(index, run);
    DrawLabel(index, runs.back().back(), label_y);
    svg_.CloseGroup();
  }

  void DrawLine(const Points& run) {
    if (run.size() < 2) return;
    std::string path;
    for (const Point& point : run) {
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L',
                     X(point.x), Y(point.y));
    }
    svg_.Path(path, "line");
  }

  void DrawErrorBars(const Points& run) {
    for (const Point& point : run) {
      if (point.spread == 0) continue;
      // On a logarithmic axis the lower end may be at or below zero, which is nowhere.
      const double low = std::max(point.y - point.spread, y_axis_->low);
      const double x = X(point.x), top = Y(point.y + point.spread), bottom = Y(low);
      svg_.Path(
          fmt::format("M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}H{1:.1f}M{4:.1f} {2:.1f}V{3:.1f}",
                      x - 3.5, x + 3.5, top, bottom, x),
          "error");
    }
  }

  void DrawMarkers(size_t index, const Points& run) {
    for (const Point& point : run) {
      const std::string spread =
          point.spread == 0 ? "" : " ± " + FormatNumber("{:.2g}", point.spread);
      svg_.Path(
          MarkerPath(index, X(point.x), Y(point.y), MarkerSize(index)), "marker",
          fmt::format("{}: {}{} at {}", chart_.series[index].name, FormatNumber("{:.4g}", point.y),
                      spread, FormatNumber("{:.6g}", point.x)));
    }
  }

  void DrawLabel(size_t index, const Point& last, double y) {
    const double x = frame_.right + kLeader;
    svg_.Line(X(last.x), Y(last.y), x, y, "leader");
    svg_.Path(MarkerPath(index, x, y, MarkerSize(index)), "marker");
    svg_.Text(x + 10, y, "label centred", LabelOf(index));
  }

  double MarkerSize(size_t index) const {
    return chart_.series[index].emphasised ? kMarkerSize + 1 : kMarkerSize;
  }

  std::string Description() const {
    std::string text = fmt::format("Lines: {} by {}.", chart_.y_label, chart_.x_label);
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].empty()) continue;
      const Point& first = runs_[i].front().front();
      const Point& last = runs_[i].back().back();
      fmt::format_to(std::back_inserter(text), " {}: {:.4g} at {:.6g}, {:.4g} at {:.6g}.",
                     chart_.series[i].name, first.y, first.x, last.y, last.x);
    }
    return text;
  }

  const LineChart& chart_;
  SvgWriter svg_;
  std::vector<std::vector<Points>> runs_;  // of each series
  std::optional<Axis> x_axis_, y_axis_;
  Frame frame_{};
};

}  // namespace

std::string RenderSvg(const LineChart& chart) { return LinePlot(chart).Render(); }

}  // namespace bitpool
