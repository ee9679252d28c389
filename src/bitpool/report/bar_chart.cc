#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bitpool/report/chart.h"
#include "bitpool/report/chart_layout.h"
#include "bitpool/report/report_text.h"
#include "bitpool/report/svg_writer.h"

namespace bitpool {
namespace {

constexpr size_t kBarLabelCharacters = 20;
constexpr double kRowHeight = 32;
constexpr double kBarHeight = 18;

std::string ValueText(const BarChart& chart, const BarRow& row) {
  const std::string value = FormatNumber(chart.format, row.value);
  return row.note.empty() ? value : value + " " + row.note;
}

Frame PlaceFrame(const BarChart& chart, double top) {
  double label_width = 0, value_width = 0;
  for (const BarRow& row : chart.rows) {
    label_width = std::max(label_width, TextWidth(Shortened(row.label, kBarLabelCharacters)));
    value_width = std::max(value_width, TextWidth(ValueText(chart, row)));
  }
  const double left = label_width + 10;
  const double rows = static_cast<double>(chart.rows.size());
  // A long note may run out of the picture, but the bars keep a third of it.
  const double right = std::max(kChartWidth - value_width - 8, left + (kChartWidth - left) / 3);
  return {left, top + 6, right, top + 10 + rows * kRowHeight};
}

void DrawRow(const BarChart& chart, const BarRow& row, const Axis& axis, const Frame& frame,
             double y, SvgWriter& svg) {
  const auto x_of = [&](double value) {
    return frame.left + axis.Position(value) * (frame.right - frame.left);
  };
  const double zero = chart.log_x ? frame.left : x_of(0);
  double end = zero;
  svg.OpenGroup(row.emphasised ? "row strong" : "row");
  svg.Text(frame.left - 8, y, "label end centred", Shortened(row.label, kBarLabelCharacters));
  if (CanShow(row.value, chart.log_x)) {
    end = x_of(row.value);
    svg.Rect({std::min(zero, end), y - kBarHeight / 2, std::max(zero, end), y + kBarHeight / 2},
             "bar", row.label + ": " + ValueText(chart, row));
  }
  svg.Text(std::max(zero, end) + 8, y, "value centred", ValueText(chart, row));
  svg.CloseGroup();
}

}  // namespace

std::string RenderSvg(const BarChart& chart) {
  SvgWriter svg(chart.title);
  std::vector<double> values;
  for (const BarRow& row : chart.rows) values.push_back(row.value);
  const auto axis = FitAxis(values, {.log = chart.log_x, .ends_at_ticks = true, .for_bars = true});
  if (!axis) return svg.FinishWithoutData();
  const Frame frame = PlaceFrame(chart, svg.top());
  svg.HorizontalAxis(*axis, frame);
  std::string description = fmt::format("Bars: {}.", chart.x_label);
  double y = frame.top + 2 + kRowHeight / 2;
  for (const BarRow& row : chart.rows) {
    DrawRow(chart, row, *axis, frame, y, svg);
    fmt::format_to(std::back_inserter(description), " {}: {}.", row.label, ValueText(chart, row));
    y += kRowHeight;
  }
  svg.Text((frame.left + frame.right) / 2, frame.bottom + 2 * kLineHeight, "tick middle",
           chart.x_label);
  return svg.Finish(frame.bottom + 2 * kLineHeight + 8, description);
}

}  // namespace bitpool
