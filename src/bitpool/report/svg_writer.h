#pragma once

#include <string>
#include <string_view>

#include "bitpool/report/chart_layout.h"

namespace bitpool {

// Units of the drawing. The style shows text at most kFontSize high, so a layout that has room for
// that has room at any width of the page.
inline constexpr double kChartWidth = 640;
inline constexpr double kFontSize = 19;
inline constexpr double kLineHeight = 24;

// Room the text takes at kFontSize, roughly: the font is the reader's.
double TextWidth(std::string_view text);

// The plotting area of a chart.
struct Frame {
  double left, top, right, bottom;
};

// Writes the elements of one chart. Text is escaped here and nowhere else.
class SvgWriter {
 public:
  // Writes the title, which may take several lines.
  explicit SvgWriter(std::string_view title);

  // Where the title ends.
  double top() const { return top_; }

  void Text(double x, double y, std::string_view classes, std::string_view text);
  void Line(double x1, double y1, double x2, double y2, std::string_view classes);
  // `tip` is shown when the reader points at the shape; none if empty.
  void Rect(const Frame& at, std::string_view classes, std::string_view tip = {});
  void Path(std::string_view path, std::string_view classes, std::string_view tip = {});
  // REQUIRES: `style` has no characters to escape.
  void OpenGroup(std::string_view classes, std::string_view style = {});
  void CloseGroup();

  // Grid lines across the frame with the labels of the axis; labels that would overlap the one
  // before are left out.
  void HorizontalAxis(const Axis& axis, const Frame& frame);
  void VerticalAxis(const Axis& axis, const Frame& frame);

  // The whole chart. The description is for readers who cannot see it.
  std::string Finish(double height, std::string_view description) const;
  std::string FinishWithoutData();

 private:
  void Element(std::string_view name, const std::string& attributes, std::string_view classes,
               std::string_view tip);

  std::string title_;
  double top_ = 0;
  std::string body_;
};

}  // namespace bitpool
