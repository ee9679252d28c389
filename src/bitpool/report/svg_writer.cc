#include "bitpool/report/svg_writer.h"

#include <fmt/format.h>

#include <iterator>
#include <limits>

#include "bitpool/report/report_text.h"

namespace bitpool {
namespace {

constexpr size_t kTitleCharacters = 54;
constexpr double kCharacterWidth = 0.57 * kFontSize;

}  // namespace

double TextWidth(std::string_view text) {
  return kCharacterWidth * static_cast<double>(CharacterCount(text));
}

SvgWriter::SvgWriter(std::string_view title) : title_(title) {
  if (title.empty()) return;
  for (const std::string& line : WrapWords(title, kTitleCharacters)) {
    top_ += kLineHeight;
    Text(0, top_ - 4, "heading", line);
  }
}

void SvgWriter::Text(double x, double y, std::string_view classes, std::string_view text) {
  fmt::format_to(std::back_inserter(body_),
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, classes,
                 EscapeMarkup(text));
}

void SvgWriter::Line(double x1, double y1, double x2, double y2, std::string_view classes) {
  fmt::format_to(std::back_inserter(body_),
                 "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n",
                 x1, y1, x2, y2, classes);
}

void SvgWriter::Element(std::string_view name, const std::string& attributes,
                        std::string_view classes, std::string_view tip) {
  fmt::format_to(std::back_inserter(body_), "<{} {} class=\"{}\"", name, attributes, classes);
  if (tip.empty()) {
    body_ += "/>\n";
  } else {
    fmt::format_to(std::back_inserter(body_), "><title>{}</title></{}>\n", EscapeMarkup(tip), name);
  }
}

void SvgWriter::Rect(const Frame& at, std::string_view classes, std::string_view tip) {
  Element("rect",
          fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", at.left,
                      at.top, at.right - at.left, at.bottom - at.top),
          classes, tip);
}

void SvgWriter::Path(std::string_view path, std::string_view classes, std::string_view tip) {
  Element("path", fmt::format("d=\"{}\"", path), classes, tip);
}

void SvgWriter::OpenGroup(std::string_view classes, std::string_view style) {
  fmt::format_to(std::back_inserter(body_), "<g class=\"{}\"", classes);
  if (!style.empty()) fmt::format_to(std::back_inserter(body_), " style=\"{}\"", style);
  body_ += ">\n";
}

void SvgWriter::CloseGroup() { body_ += "</g>\n"; }

void SvgWriter::HorizontalAxis(const Axis& axis, const Frame& frame) {
  double free_from = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < axis.ticks.size(); ++i) {
    const double x = frame.left + axis.Position(axis.ticks[i]) * (frame.right - frame.left);
    Line(x, frame.top, x, frame.bottom, "grid");
    const double half = TextWidth(axis.labels[i]) / 2;
    if (x - half < free_from) continue;
    Text(x, frame.bottom + kLineHeight - 2, "tick middle", axis.labels[i]);
    free_from = x + half + kCharacterWidth / 2;
  }
}

void SvgWriter::VerticalAxis(const Axis& axis, const Frame& frame) {
  for (size_t i = 0; i < axis.ticks.size(); ++i) {
    const double y = frame.bottom - axis.Position(axis.ticks[i]) * (frame.bottom - frame.top);
    Line(frame.left, y, frame.right, y, "grid");
    Text(frame.left - 8, y, "tick end centred", axis.labels[i]);
  }
}

std::string SvgWriter::Finish(double height, std::string_view description) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n{}</svg>\n",
      kChartWidth, height, EscapeMarkup(title_), EscapeMarkup(description), body_);
}

std::string SvgWriter::FinishWithoutData() {
  const double height = top_ + 5 * kLineHeight;
  Rect({0, top_ + 4, kChartWidth, height}, "empty");
  Text(kChartWidth / 2, (top_ + height) / 2, "tick middle centred", "no data");
  return Finish(height, "no data");
}

}  // namespace bitpool
