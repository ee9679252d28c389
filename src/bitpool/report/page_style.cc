#include "bitpool/report/page_style.h"

namespace bitpool {

// The ten colours of series were chosen so that any two differ by at least 0.07 in OKLab even for
// readers with protanopia, deuteranopia or tritanopia (as simulated by Machado et al. 2009), and
// contrast with the page by 3:1 or more (WCAG, graphics).
std::string_view PageStyle() {
  return R"(
:root {
  color-scheme: light dark;
  --paper: #fdfdfc; --ink: #1a1e23; --muted: #59626d; --rule: #dcdfe3; --tint: #f3f5f6;
  --accent: #0c66bd; --bar: #9db4c8;
  --s0: #0c66bd; --s1: #f25730; --s2: #3f9c5f; --s3: #b30e68; --s4: #5f5c0e;
  --s5: #0d99ef; --s6: #541d5e; --s7: #c468ab; --s8: #75000f; --s9: #063490;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --ink: #e6e9ed; --muted: #9ea8b3; --rule: #2f353c; --tint: #1d2126;
    --accent: #57bdec; --bar: #4d6175;
    --s0: #57bdec; --s1: #bc5b1c; --s2: #b3ef8d; --s3: #9a7497; --s4: #9ea015;
    --s5: #3080d0; --s6: #fe86c9; --s7: #f8ccff; --s8: #e2b398; --s9: #978df9;
  }
}

/* The page */
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 70rem; margin: 0 auto; padding: clamp(1.5rem, 5vw, 4rem) clamp(1rem, 4vw, 2.5rem); }
header { padding-bottom: 1.5rem; border-bottom: 1px solid var(--rule); }
h1 { margin: 0; font-size: clamp(1.6rem, 1.2rem + 2vw, 2.4rem); line-height: 1.2; font-weight: 650;
     letter-spacing: -0.015em; text-wrap: balance; overflow-wrap: anywhere; }
.subtitle { margin: 0.6rem 0 0; max-width: 44rem; color: var(--muted); font-size: 1.1rem; }
h2 { margin: 3rem 0 1rem; font-size: 1.35rem; line-height: 1.3; font-weight: 650;
     letter-spacing: -0.01em; }
p { max-width: 44rem; margin: 1rem 0; overflow-wrap: anywhere; }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--rule); color: var(--muted);
         font-size: 0.85rem; }

/* Facts */
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr));
         gap: 0 2.5rem; margin: 1.25rem 0; font-size: 0.92rem; }
.facts div { display: flex; justify-content: space-between; gap: 1.5rem; padding: 0.4rem 0;
             border-bottom: 1px solid var(--rule); }
.facts dt { color: var(--muted); flex: none; max-width: 60%; overflow-wrap: anywhere; }
.facts dd { margin: 0; text-align: right; overflow-wrap: anywhere;
            font-variant-numeric: tabular-nums; }

/* Small pictures in a row */
.strip { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 0 0 1.25rem; padding: 0; list-style: none; }
.strip li { width: 4.5rem; padding: 0.25rem; border: 2px solid var(--rule); border-radius: 4px;
            font-size: 0.75rem; line-height: 1.3; text-align: center; color: var(--muted); }
.strip li.best { border-color: var(--accent); color: var(--ink); }
.strip img { display: block; width: 100%; image-rendering: pixelated; }

/* Tables scroll in a box of their own, the first column stays */
.scroll { overflow-x: auto; margin: 0 0 1.5rem; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 0.95rem; font-variant-numeric: tabular-nums; }
.caption { margin: 1.5rem 0 0.5rem; color: var(--muted); font-size: 0.92rem; line-height: 1.5; }
th, td { padding: 0.45rem 1.1rem; text-align: left; font-weight: 400; white-space: nowrap;
         border-bottom: 1px solid var(--rule); }
/* Headings are the longest words of most tables and may be broken where the page is too narrow for them. */
thead th { font-weight: 600; border-bottom: 1.5px solid var(--ink); white-space: normal; vertical-align: bottom;
           text-wrap: balance; }
th:first-child { position: sticky; left: 0; padding-left: 0; background: var(--paper); }
@media (max-width: 40rem) { th, td { padding: 0.45rem 0.8rem; } }
th.right, td.right { text-align: right; }
td.text { white-space: normal; min-width: 10rem; }
a { color: inherit; text-decoration-color: var(--muted); text-underline-offset: 0.15em; }
td b, th b { font-weight: 700; }
.note { display: inline-block; margin-left: 0.4em; color: var(--muted); font-size: 0.86em; }
tbody tr:hover td, tbody tr:hover th { background: var(--tint); }

/* Figures: two beside each other where there is room */
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr));
           gap: 2.5rem 3rem; margin: 2rem 0; }
figure { margin: 0; max-width: 46rem; container-type: inline-size; }
figcaption { margin-top: 0.6rem; color: var(--muted); font-size: 0.92rem; line-height: 1.5; }

/* Charts. Their layout has room for 19px; a wide one needs less. */
.chart { display: block; width: 100%; height: auto; overflow: visible; font-size: 13px; }
.chart text { fill: var(--ink); font-variant-numeric: tabular-nums; }
.chart .heading { font-weight: 650; font-size: 1.08em; }
.chart .tick { fill: var(--muted); }
.chart .middle { text-anchor: middle; }
.chart .end { text-anchor: end; }
.chart .centred { dominant-baseline: central; }
.chart .grid { stroke: var(--rule); stroke-width: 1; }
.chart .base { stroke: var(--muted); stroke-width: 1; }
.chart .empty { fill: var(--tint); }
.chart .strong text { font-weight: 700; }
.s0 { --c: var(--s0); } .s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); }
.s4 { --c: var(--s4); } .s5 { --c: var(--s5); } .s6 { --c: var(--s6); } .s7 { --c: var(--s7); }
.s8 { --c: var(--s8); } .s9 { --c: var(--s9); }
.series .line { fill: none; stroke: var(--c); stroke-width: 1.7; stroke-linejoin: round; }
.series.strong .line { stroke-width: 3.4; }
.series.dashed .line { stroke-dasharray: 6 4; }
.series .error { fill: none; stroke: var(--c); stroke-width: 1.3; opacity: 0.75; }
.series .marker { fill: var(--c); stroke: var(--paper); stroke-width: 1; }
.series.hollow .marker { fill: var(--paper); stroke: var(--c); stroke-width: 1.8; }
.series .leader { stroke: var(--c); stroke-width: 1; stroke-dasharray: 1.5 2.5; opacity: 0.8; }
@container (max-width: 37rem) { .chart { font-size: 15px; } }
@container (max-width: 27rem) {
  .chart { font-size: 19px; }
  .series .line { stroke-width: 2.4; }
  .series.strong .line { stroke-width: 4.4; }
  .series .error { stroke-width: 1.8; }
}
.row .bar { fill: var(--bar); }
.row.strong .bar { fill: var(--accent); }
.cell .fill { fill: var(--light); stroke: var(--paper); stroke-width: 1.5; }
.chart .cell text { fill: var(--light-ink); pointer-events: none; }
.chart .best { fill: none; stroke: var(--s1); stroke-width: 3; }
@media screen and (prefers-color-scheme: dark) {
  .cell .fill { fill: var(--dark); }
  .chart .cell text { fill: var(--dark-ink); }
}

@media print {
  @page { margin: 16mm; }
  :root { --paper: #ffffff; color-scheme: light; }
  html { font-size: 9.5pt; }
  body { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  h2 { break-after: avoid; }
  .scroll { overflow: visible; }
  th:first-child { position: static; }
  .figures { grid-template-columns: 1fr 1fr; gap: 8mm; }
  figure:only-child { grid-column: 1 / -1; max-width: 120mm; }
  .caption { break-after: avoid; }
  figure, table, .facts div { break-inside: avoid; }
}
)";
}

}  // namespace bitpool
