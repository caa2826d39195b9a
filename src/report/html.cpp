#include <fmt/format.h>

#include "report/svg_plot.h"

// The frame that all pages share: style, escaping, and one file without references.

namespace mpitron::report {
namespace {

constexpr std::string_view kPageStyle = R"css(
:root { color-scheme: light dark;
  --ground: #fbfbfa; --card: #ffffff; --ink: #22262b; --soft: #6b727c; --line: #e4e5e3;
  --c0: #3b6fb6; --c1: #d1603d; --c2: #3a8f5c; --c3: #9a6cb0; --c4: #c69a1f; --c5: #2f9aa8;
  --c6: #b5476f; --c7: #7d7f85; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #15171a; --card: #1d2024; --ink: #e3e5e8; --soft: #949ba5; --line: #2e3238;
  --c0: #74a4e6; --c1: #ee8d6c; --c2: #6cc48e; --c3: #c39bd6; --c4: #e2bf58; --c5: #63c3d0;
  --c6: #e383a5; --c7: #a3a6ad; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 28px 24px 56px; max-width: 1240px; background: var(--ground);
  color: var(--ink); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans",
  sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 21px; font-weight: 600; margin: 0 0 2px; letter-spacing: -0.01em; }
h2 { font-size: 14px; font-weight: 600; margin: 0 0 10px; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 16px 18px; margin-top: 16px; overflow-x: auto; }
.grid { display: flex; flex-wrap: wrap; gap: 16px; margin-top: 16px; }
.grid .card { flex: 1 1 420px; min-width: min(420px, 100%); margin: 0; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { color: var(--soft); font-weight: 500; text-align: left; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child > td, tr:last-child > th[scope=row] { border-bottom: 0; }
td.number, th.number { text-align: right; }
@media (max-width: 560px) { body { padding: 16px 12px; } }
)css";

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Escapes "<", which within a script element could end it or begin a comment; JSON may hold it so.
std::string script_json(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

/// Writes one file without links to others, so that it can be mailed and opened anywhere.
std::string html_page(std::string_view title, std::string_view style, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n{}\n</body>\n</html>\n",
      html_text(title), kPageStyle, style, body);
}

}  // namespace mpitron::report
