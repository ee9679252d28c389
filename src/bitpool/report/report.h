#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bitpool {

enum class Align { kLeft, kRight, kText };  // kText: left, and may break into lines

struct ReportCell {
  std::string text;
  std::string note = {};    // after the text and quieter, such as "± 0.003"
  bool emphasised = false;  // the best of its column
  Align align = Align::kLeft;
  std::string link = {};  // the text leads to the section with this name
};

// A column's header is aligned like its first cell.
struct ReportTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<ReportCell>> rows;  // each as long as the header
};

// A small picture, and what is said below it.
struct ReportPicture {
  std::string source;  // of DataUri
  std::string caption;
  bool emphasised = false;
};

// Names and values, such as settings.
using ReportFacts = std::vector<std::pair<std::string, std::string>>;

// A page that stands alone: style inside, no script, nothing from the network. It reads on a phone,
// on a desk, in the dark and on paper. Parts appear in the order they are added; all text is plain
// and escaped here.
class Report {
 public:
  explicit Report(std::string title, std::string subtitle = {});

  // With a name, cells can link to it: letters, digits and hyphens.
  void AddSection(std::string_view heading, std::string_view name = {});
  void AddParagraph(std::string_view text);
  void AddFacts(const ReportFacts& facts);
  // Throws kInvalidArgument for a row that is not as long as the header.
  void AddTable(const ReportTable& table);
  // An SVG of chart.h, as it is. Charts added one after the other stand side by side where there
  // is room. Throws kInvalidArgument for anything that is not an SVG.
  void AddChart(std::string_view svg, std::string_view caption);

  // Pictures in a row, or several where there is no room for all.
  void AddPictures(std::string_view caption, const std::vector<ReportPicture>& pictures);

  std::string Html() const;

 private:
  void EndCharts();

  std::string title_;
  std::string subtitle_;
  std::string body_;
  bool in_charts_ = false;
};

// The table for a terminal, in columns, with "*" after what is emphasised.
// Throws as AddTable.
std::string TextTable(const ReportTable& table);

}  // namespace bitpool
