#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bitpool/base/error.h"
#include "bitpool/report/chart.h"
#include "bitpool/report/chart_layout.h"
#include "bitpool/report/heat_ramp.h"
#include "bitpool/report/report_text.h"
#include "bitpool/report/svg_writer.h"

namespace bitpool {
namespace {

constexpr double kCellHeight = 46;
constexpr double kWidestCell = 116;

struct Range {
  double low, high;
};

void CheckSizes(const HeatMap& chart) {
  const auto columns = static_cast<Index>(chart.x_values.size());
  const auto rows = static_cast<Index>(chart.y_values.size());
  if (chart.values.rows() == rows && chart.values.cols() == columns) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("heat map: {} y values and {} x values need {}×{} values, got {}×{}",
                          rows, columns, rows, columns, chart.values.rows(), chart.values.cols()));
}

std::optional<Range> RangeOf(const MatrixD& values) {
  std::optional<Range> range;
  for (const double value : values.reshaped()) {
    if (!CanShow(value, false)) continue;
    if (!range) range = {value, value};
    range = {std::min(range->low, value), std::max(range->high, value)};
  }
  return range;
}

class HeatPlot {
 public:
  HeatPlot(const HeatMap& chart, Range range, SvgWriter& svg)
      : chart_(chart),
        range_(range),
        best_(chart.higher_is_better ? range.high : range.low),
        svg_(svg),
        x_labels_(TickLabels(chart.x_values, true)),
        y_labels_(TickLabels(chart.y_values, true)) {
    double label_width = 0;
    for (const std::string& label : y_labels_)
      label_width = std::max(label_width, TextWidth(label));
    left_ = label_width + 10;
    cell_width_ = std::min(kWidestCell, (kChartWidth - left_ - 2) / static_cast<double>(columns()));
    top_ = svg.top() + kLineHeight + 8;
    double text_width = 0;
    for (const double value : chart.values.reshaped()) {
      text_width = std::max(text_width, TextWidth(FormatNumber(chart.format, value)));
    }
    text_fits_ = text_width <= cell_width_;
  }

  std::string Render() {
    svg_.Text(0, svg_.top() + kFontSize, "tick", chart_.y_label);
    for (Index row = 0; row < rows(); ++row) {
      svg_.Text(left_ - 8, (CellAt(row, 0).top + CellAt(row, 0).bottom) / 2, "tick end centred",
                y_labels_[row]);
    }
    const double bottom = top_ + kCellHeight * static_cast<double>(rows());
    DrawColumnLabels(bottom + kLineHeight - 2);
    for (Index row = 0; row < rows(); ++row) {
      for (Index column = 0; column < columns(); ++column) DrawCell(row, column);
    }
    DrawOutlines();
    svg_.Text(left_ + cell_width_ * static_cast<double>(columns()) / 2, bottom + 2 * kLineHeight,
              "tick middle", chart_.x_label);
    return svg_.Finish(bottom + 2 * kLineHeight + 8, Description());
  }

 private:
  Index rows() const { return chart_.values.rows(); }
  Index columns() const { return chart_.values.cols(); }

  Frame CellAt(Index row, Index column) const {
    const double left = left_ + cell_width_ * static_cast<double>(column);
    const double top = top_ + kCellHeight * static_cast<double>(rows() - 1 - row);
    return {left, top, left + cell_width_, top + kCellHeight};
  }

  // 1 for the best value, so that it has the strongest colour.
  double ShareOf(double value) const {
    const double width = range_.high - range_.low;
    if (width <= 0) return 0.5;
    return chart_.higher_is_better ? (value - range_.low) / width : (range_.high - value) / width;
  }

  // Every second, third, … label where all would overlap.
  void DrawColumnLabels(double y) {
    double widest = 0;
    for (const std::string& label : x_labels_) widest = std::max(widest, TextWidth(label));
    const auto stride = std::max<Index>(1, std::lround(std::ceil(widest / cell_width_)));
    for (Index column = 0; column < columns(); column += stride) {
      const Frame cell = CellAt(0, column);
      svg_.Text((cell.left + cell.right) / 2, y, "tick middle", x_labels_[column]);
    }
  }

  void DrawCell(Index row, Index column) {
    const double value = chart_.values(row, column);
    const Frame cell = CellAt(row, column);
    const double x = (cell.left + cell.right) / 2, y = (cell.top + cell.bottom) / 2;
    if (!CanShow(value, false)) {
      svg_.Text(x, y, "tick middle centred", kMissing);
      return;
    }
    const std::string text = FormatNumber(chart_.format, value);
    const RampColour light = RampAt(ShareOf(value), Theme::kLight);
    const RampColour dark = RampAt(ShareOf(value), Theme::kDark);
    svg_.OpenGroup(value == best_ ? "cell strong" : "cell",
                   fmt::format("--light:{};--light-ink:{};--dark:{};--dark-ink:{}", light.fill,
                               light.ink, dark.fill, dark.ink));
    svg_.Rect(cell, "fill",
              fmt::format("{} {}, {} {}: {}", chart_.x_label, x_labels_[column], chart_.y_label,
                          y_labels_[row], text));
    if (text_fits_) svg_.Text(x, y, "middle centred", text);
    svg_.CloseGroup();
  }

  // After all cells, so that no neighbour covers a line.
  void DrawOutlines() {
    for (Index row = 0; row < rows(); ++row) {
      for (Index column = 0; column < columns(); ++column) {
        if (chart_.values(row, column) != best_) continue;
        const Frame cell = CellAt(row, column);
        svg_.Rect({cell.left + 1, cell.top + 1, cell.right - 1, cell.bottom - 1}, "best");
      }
    }
  }

  std::string Description() const {
    std::string text = fmt::format(
        "Table of {} by {}, coloured by value from {} to {}.", chart_.y_label, chart_.x_label,
        FormatNumber(chart_.format, range_.low), FormatNumber(chart_.format, range_.high));
    for (Index row = 0; row < rows(); ++row) {
      for (Index column = 0; column < columns(); ++column) {
        if (chart_.values(row, column) != best_) continue;
        text += fmt::format(" Best: {} at {} {}, {} {}.", FormatNumber(chart_.format, best_),
                            chart_.x_label, x_labels_[column], chart_.y_label, y_labels_[row]);
      }
    }
    return text;
  }

  const HeatMap& chart_;
  Range range_;
  double best_;
  SvgWriter& svg_;
  std::vector<std::string> x_labels_, y_labels_;
  double left_ = 0, top_ = 0, cell_width_ = 0;
  bool text_fits_ = true;
};

}  // namespace

std::string RenderSvg(const HeatMap& chart) {
  CheckSizes(chart);
  SvgWriter svg(chart.title);
  const std::optional<Range> range = RangeOf(chart.values);
  if (!range) return svg.FinishWithoutData();
  return HeatPlot(chart, *range, svg).Render();
}

}  // namespace bitpool
