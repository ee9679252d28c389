#include "bitpool/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bitpool/base/error.h"
#include "bitpool/report/page_style.h"
#include "bitpool/report/report_text.h"
#include "bitpool/version.h"

namespace bitpool {
namespace {

void CheckRows(const ReportTable& table) {
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].size() == table.header.size()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("table \"{}\": the header has {} columns, row {} has {}", table.caption,
                            table.header.size(), i, table.rows[i].size()));
  }
}

Align AlignOf(const ReportTable& table, size_t column) {
  return table.rows.empty() ? Align::kLeft : table.rows.front()[column].align;
}

std::string_view ClassOf(Align align) {
  if (align == Align::kText) return " class=\"text\"";
  return align == Align::kRight ? " class=\"right\"" : "";
}

// A heading may be broken, but not before its unit: a last word of one or two characters stays with
// the word before.
std::string WithUnitKept(std::string heading) {
  constexpr std::string_view kNoBreak = "\u00a0";
  const size_t space = heading.rfind(' ');
  if (space != std::string::npos && CharacterCount(heading.substr(space + 1)) <= 2) {
    heading.replace(space, 1, kNoBreak);
  }
  return heading;
}

std::string HeaderHtml(const ReportTable& table) {
  std::string html = "<thead><tr>";
  for (size_t i = 0; i < table.header.size(); ++i) {
    fmt::format_to(std::back_inserter(html), "<th scope=\"col\"{}>{}</th>",
                   ClassOf(AlignOf(table, i)), EscapeMarkup(WithUnitKept(table.header[i])));
  }
  return html + "</tr></thead>\n";
}

// Characters of the longest note in each column.
std::vector<size_t> NoteWidths(const ReportTable& table) {
  std::vector<size_t> widths(table.header.size(), 0);
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], CharacterCount(row[i].note));
    }
  }
  return widths;
}

// A cell without a note keeps the room of one, so that the numbers of a column stay aligned; a
// sentence needs none.
std::string CellHtml(const ReportCell& cell, bool names_row, size_t note_width) {
  std::string content = EscapeMarkup(cell.text);
  if (cell.emphasised) content = "<b>" + content + "</b>";
  if (!cell.link.empty()) {
    content = fmt::format("<a href=\"#{}\">{}</a>", EscapeMarkup(cell.link), content);
  }
  if (cell.align == Align::kText) {
    if (!cell.note.empty()) {
      content += fmt::format(" <span class=\"note\">{}</span>", EscapeMarkup(cell.note));
    }
  } else if (note_width > 0) {
    fmt::format_to(std::back_inserter(content),
                   " <span class=\"note\" style=\"min-width:{}ch\">{}</span>", note_width,
                   EscapeMarkup(cell.note));
  }
  return names_row ? fmt::format("<th scope=\"row\"{}>{}</th>", ClassOf(cell.align), content)
                   : fmt::format("<td{}>{}</td>", ClassOf(cell.align), content);
}

std::string Padded(const std::string& text, size_t width, Align align) {
  const size_t characters = CharacterCount(text);
  const std::string blanks(width > characters ? width - characters : 0, ' ');
  return align == Align::kRight ? blanks + text : text + blanks;
}

std::string CellText(const ReportCell& cell, size_t note_width) {
  std::string text = cell.text + (cell.emphasised ? "*" : " ");
  if (note_width > 0) text += Padded(cell.note, note_width, Align::kLeft);
  return text;
}

}  // namespace

Report::Report(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void Report::EndCharts() {
  if (in_charts_) body_ += "</div>\n";
  in_charts_ = false;
}

void Report::AddSection(std::string_view heading, std::string_view name) {
  EndCharts();
  const std::string id = name.empty() ? "" : fmt::format(" id=\"{}\"", EscapeMarkup(name));
  fmt::format_to(std::back_inserter(body_), "<h2{}>{}</h2>\n", id, EscapeMarkup(heading));
}

void Report::AddParagraph(std::string_view text) {
  EndCharts();
  body_ += "<p>" + EscapeMarkup(text) + "</p>\n";
}

void Report::AddFacts(const ReportFacts& facts) {
  EndCharts();
  body_ += "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts) {
    fmt::format_to(std::back_inserter(body_), "<div><dt>{}</dt><dd>{}</dd></div>\n",
                   EscapeMarkup(name), EscapeMarkup(value));
  }
  body_ += "</dl>\n";
}

void Report::AddTable(const ReportTable& table) {
  CheckRows(table);
  EndCharts();
  // Outside the box that scrolls, where a <caption> would be cut off.
  const std::string caption = EscapeMarkup(table.caption);
  if (!caption.empty()) body_ += "<p class=\"caption\">" + caption + "</p>\n";
  fmt::format_to(std::back_inserter(body_),
                 "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n"
                 "<table>\n{}<tbody>\n",
                 caption, HeaderHtml(table));
  const std::vector<size_t> note_widths = NoteWidths(table);
  for (const auto& row : table.rows) {
    body_ += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) body_ += CellHtml(row[i], i == 0, note_widths[i]);
    body_ += "</tr>\n";
  }
  body_ += "</tbody>\n</table>\n</div>\n";
}

void Report::AddChart(std::string_view svg, std::string_view caption) {
  if (!svg.starts_with("<svg ")) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("chart \"{}\": expected an SVG that begins with \"<svg \"", caption));
  }
  if (!in_charts_) body_ += "<div class=\"figures\">\n";
  in_charts_ = true;
  fmt::format_to(std::back_inserter(body_), "<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                 svg, EscapeMarkup(caption));
}

void Report::AddPictures(std::string_view caption, const std::vector<ReportPicture>& pictures) {
  EndCharts();
  if (!caption.empty()) body_ += "<p class=\"caption\">" + EscapeMarkup(caption) + "</p>\n";
  body_ += "<ul class=\"strip\">\n";
  for (const ReportPicture& picture : pictures) {
    const std::string text = EscapeMarkup(picture.caption);
    fmt::format_to(
        std::back_inserter(body_), "<li{}><img src=\"{}\" alt=\"{}\"/><span>{}</span></li>\n",
        picture.emphasised ? " class=\"best\"" : "", EscapeMarkup(picture.source), text, text);
  }
  body_ += "</ul>\n";
}

std::string Report::Html() const {
  const std::string title = EscapeMarkup(title_);
  const std::string subtitle =
      subtitle_.empty() ? ""
                        : fmt::format("<p class=\"subtitle\">{}</p>\n", EscapeMarkup(subtitle_));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"generator\" content=\"Bitpool {0}\"/>\n<title>{1}</title>\n"
      "<style>{2}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{1}</h1>\n{3}</header>\n{4}{5}"
      "<footer>Bitpool {0}</footer>\n</main>\n</body>\n</html>\n",
      Version(), title, PageStyle(), subtitle, body_, in_charts_ ? "</div>\n" : "");
}

std::string TextTable(const ReportTable& table) {
  CheckRows(table);
  const std::vector<size_t> note_widths = NoteWidths(table);
  const auto text_of_cell = [&](const auto& row, size_t i) {
    return CellText(row[i], note_widths[i]);
  };
  std::vector<size_t> widths;
  for (size_t i = 0; i < table.header.size(); ++i) {
    widths.push_back(CharacterCount(table.header[i]));
    for (const auto& row : table.rows) {
      widths[i] = std::max(widths[i], CharacterCount(text_of_cell(row, i)));
    }
  }
  const auto line = [&](const auto& text_of) {
    std::string text;
    for (size_t i = 0; i < widths.size(); ++i) {
      text += (i == 0 ? "" : "  ") + Padded(text_of(i), widths[i], AlignOf(table, i));
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = table.caption.empty() ? "" : table.caption + "\n";
  text += line([&](size_t i) { return table.header[i]; });
  for (const auto& row : table.rows) text += line([&](size_t i) { return text_of_cell(row, i); });
  return text;
}

}  // namespace bitpool
