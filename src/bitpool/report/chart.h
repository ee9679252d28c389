#pragma once

#include <limits>
#include <string>
#include <vector>

#include "bitpool/base/matrix.h"

// Charts as SVG, to be placed in a page that has PageStyle() (page_style.h): it gives the colours,
// by day and by night. No script, no fonts. A chart scales to the width it is given; the layout
// leaves room for the larger letters the style uses when that is narrow.
//
// A value that is not a number is left out: a gap in a line, a "–" in a row or a cell. A chart
// without any value says "no data". Sizes that do not agree throw kInvalidArgument.
namespace bitpool {

struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> spread = {};  // half the length of the error bars; none if empty
  bool emphasised = false;          // thicker, and on top of the others
};

// Lines through points. Colour and shape of the marker follow from the place in `series` and repeat
// after ten, then with dashed lines.
struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;
  bool log_x = false;
  bool log_y = false;
  std::vector<double> x_ticks = {};  // such as the code lengths tried; 1-2-5 steps if empty
};

struct BarRow {
  std::string label;
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string note = {};  // stands after the value, such as "± 0.2"
  bool emphasised = false;
};

// Horizontal bars, each with its value.
struct BarChart {
  std::string title;
  std::string x_label;
  std::vector<BarRow> rows;
  bool log_x = false;
  std::string format = "{:.3g}";  // of the values
};

// A value per pair of settings; the best is outlined. Row i of `values` belongs to y_values[i] and
// is drawn above row i − 1, column j belongs to x_values[j].
struct HeatMap {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<double> x_values;
  std::vector<double> y_values;
  MatrixD values;
  std::string format = "{:.3f}";  // of the values
  bool higher_is_better = true;
};

std::string RenderSvg(const LineChart& chart);
std::string RenderSvg(const BarChart& chart);
std::string RenderSvg(const HeatMap& chart);

}  // namespace bitpool
