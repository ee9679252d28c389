#include "bitpool/library/library_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "bitpool/base/shown_text.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/report/data_uri.h"
#include "bitpool/report/page_style.h"
#include "bitpool/report/report_text.h"
#include "bitpool/version.h"

namespace bitpool {
namespace {

constexpr std::string_view kPicturesStyle = R"(
/* Pictures in a grid */
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 9.5rem), 1fr));
            gap: 1.25rem 1rem; margin: 1.25rem 0; padding: 0; list-style: none; }
.pictures li { min-width: 0; }
.pictures .frame { display: flex; align-items: center; justify-content: center; aspect-ratio: 1;
                   background: var(--tint); border: 1px solid var(--rule); border-radius: 6px;
                   overflow: hidden; color: var(--muted); text-decoration: none; }
.pictures .frame:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.pictures .best .frame { border: 2px solid var(--accent); }
.pictures img { display: block; width: 100%; height: 100%; object-fit: contain; }
.pictures .name { margin: 0.45rem 0 0; font-size: 0.85rem; line-height: 1.35; }
.pictures .about { margin: 0.15rem 0 0; color: var(--muted); font-size: 0.8rem; line-height: 1.4;
                   font-variant-numeric: tabular-nums; }
.pictures .tag { margin: 0.15rem 0 0; color: var(--accent); font-size: 0.8rem; font-weight: 600; }
@media print { .pictures li { break-inside: avoid; } }
)";

// Any path as an address, byte by byte.
std::string FileAddress(const std::filesystem::path& path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string address = "file://";
  for (const char c : path.native()) {
    if (kPlain.find(c) != std::string_view::npos) {
      address += c;
    } else {
      fmt::format_to(std::back_inserter(address), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return address;
}

std::string SizeText(uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (bytes < 1000) return fmt::format("{} B", bytes);
  return bytes < 1000000 ? fmt::format("{:.0f} kB", size / 1e3)
                         : fmt::format("{:.1f} MB", size / 1e6);
}

// One picture of a grid. Texts are plain; an empty one is left out.
struct Card {
  std::string name;
  std::vector<std::string> about;
  std::string tag;
  std::string address;
  std::vector<std::byte> thumbnail;
  bool best = false;
};

Card CardOf(const LibrarySnapshot& library, const CataloguedPicture& picture) {
  return {
      .name = ShownName(picture.path),
      .about = {fmt::format("{} × {}, {}", picture.width, picture.height, SizeText(picture.size))},
      .tag = {},
      .address = FileAddress(library.root() / picture.path),
      .thumbnail = library.ReadThumbnail(picture.id)};
}

std::string Paragraph(std::string_view css_class, std::string_view text) {
  if (text.empty()) return {};
  return fmt::format("<p class=\"{}\">{}</p>", css_class, EscapeMarkup(text));
}

std::string CardHtml(const Card& card) {
  const std::string inside =
      card.thumbnail.empty()
          ? "no preview"
          : fmt::format("<img alt=\"{}\" loading=\"lazy\" src=\"{}\"/>", EscapeMarkup(card.name),
                        DataUri("image/jpeg", card.thumbnail));
  const std::string frame =
      card.address.empty()
          ? fmt::format("<span class=\"frame\">{}</span>", inside)
          : fmt::format("<a class=\"frame\" href=\"{}\">{}</a>", card.address, inside);
  std::string html = fmt::format("<li{}>{}{}", card.best ? " class=\"best\"" : "", frame,
                                 Paragraph("name", card.name));
  for (const std::string& line : card.about) html += Paragraph("about", line);
  return html + Paragraph("tag", card.tag) + "</li>\n";
}

std::string GridHtml(const std::vector<Card>& cards) {
  std::string html = "<ul class=\"pictures\">\n";
  for (const Card& card : cards) html += CardHtml(card);
  return html + "</ul>\n";
}

std::string Page(std::string_view title, std::string_view subtitle, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"generator\" content=\"Bitpool {0}\"/>\n<title>{1}</title>\n"
      "<style>{2}{3}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{1}</h1>\n"
      "<p class=\"subtitle\">{4}</p>\n</header>\n{5}<footer>Bitpool {0}</footer>\n</main>\n"
      "</body>\n</html>\n",
      Version(), EscapeMarkup(title), PageStyle(), kPicturesStyle, EscapeMarkup(subtitle), body);
}

std::string Counted(size_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

// What a picture of a group is to the one it was compared with.
std::string TagOf(const DuplicateGroup& group, size_t place) {
  const DuplicatePicture& member = group.pictures[place];
  if (place == 0) return "suggested to keep: " + group.reason.words;
  std::string tag = WordsOf(member.evidence);
  if (member.compared_with.value_or(0) != 0) {
    tag += ", as compared with " + ShownName(group.pictures[*member.compared_with].picture.path);
  }
  return member.marked ? tag + "; marked to be kept" : tag;
}

std::string GroupHtml(const LibrarySnapshot& library, const DuplicateGroup& group, size_t most) {
  std::vector<Card> cards;
  for (size_t i = 0; i < std::min(most, group.pictures.size()); ++i) {
    const DuplicatePicture& member = group.pictures[i];
    Card card = CardOf(library, member.picture);
    card.best = member.keep;
    if (i > 0)
      card.about.push_back(
          Counted(static_cast<size_t>(member.distance), "bit differs", "bits differ"));
    card.tag = TagOf(group, i);
    cards.push_back(std::move(card));
  }
  std::string html = GridHtml(cards);
  if (group.pictures.size() > most) {
    html += fmt::format("<p>{} of this group not shown.</p>\n",
                        Counted(group.pictures.size() - most, "more picture", "more pictures"));
  }
  return html;
}

size_t CountToGo(const std::vector<DuplicateGroup>& groups) {
  size_t count = 0;
  for (const DuplicateGroup& group : groups) {
    count +=
        static_cast<size_t>(std::ranges::count(group.pictures, false, &DuplicatePicture::keep));
  }
  return count;
}

}  // namespace

AskedPicture AskedFile(Env& env, const std::filesystem::path& picture) {
  return {.name = picture.string(),
          .thumbnail = MakeThumbnail(env.Read(picture, MaxPictureBytes()))};
}

std::string QueryPage(const LibrarySnapshot& library, const AskedPicture& asked,
                      const std::vector<QueryMatch>& matches) {
  std::string body = GridHtml({{.name = ShownName(asked.name),
                                .about = {},
                                .tag = {},
                                .address = {},
                                .thumbnail = asked.thumbnail,
                                .best = true}});
  body += "<h2>Nearest pictures</h2>\n";
  if (matches.empty()) body += "<p>The library has no pictures.</p>\n";
  std::vector<Card> cards;
  for (const QueryMatch& match : matches) {
    Card card = CardOf(library, match.picture);
    card.about.insert(card.about.begin(),
                      fmt::format("distance {}, score {:.3f}", match.distance, match.score));
    cards.push_back(std::move(card));
  }
  if (!cards.empty()) body += GridHtml(cards);
  return Page(
      "Pictures like " + ShownName(asked.name),
      fmt::format("{} of {}. The distance counts the bits of {}-bit codes that differ; the score "
                  "weighs each by how sure the query is of it.",
                  matches.size(),
                  Counted(static_cast<size_t>(library.index().size()), "picture", "pictures"),
                  library.index().bits()),
      body);
}

std::string DuplicatesPage(const LibrarySnapshot& library,
                           const std::vector<DuplicateGroup>& groups, int radius,
                           const DuplicatesPageLimits& limits) {
  std::string body;
  const size_t shown = std::min(limits.groups, groups.size());
  for (size_t i = 0; i < shown; ++i) {
    body += fmt::format("<h2>Group {}: {} pictures, {}</h2>\n", i + 1, groups[i].pictures.size(),
                        WordsOf(groups[i].kind)) +
            GroupHtml(library, groups[i], limits.pictures);
  }
  if (groups.empty()) body = "<p>There are none.</p>\n";
  if (groups.size() > shown) {
    body += fmt::format("<p>{} not shown.</p>\n",
                        Counted(groups.size() - shown, "more group", "more groups"));
  }
  return Page("Near-duplicates",
              fmt::format("{}, looked at within {}; {} could go. Nothing was changed.",
                          Counted(groups.size(), "group", "groups"),
                          Counted(static_cast<size_t>(radius), "bit", "bits"),
                          Counted(CountToGo(groups), "picture", "pictures")),
              body);
}

}  // namespace bitpool
