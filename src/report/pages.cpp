#include "report/pages.h"

#include <fmt/format.h>

#include "report/run_page_script.h"
#include "report/svg_plot.h"
#include "utils/error.h"
#include "utils/system/files.h"

// The page of `mpitron report`, put together from data, styles and a script; the curves of runs are
// drawn by Chart.js in the reader's browser.

namespace mpitron::report {
namespace {

constexpr std::string_view kRunStyle = R"css(
header { display: flex; flex-wrap: wrap; gap: 12px 28px; align-items: end;
  justify-content: space-between; }
.tools { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: center; }
.choice { display: inline-flex; border: 1px solid var(--line); border-radius: 8px;
  overflow: hidden; }
.choice button { font: inherit; font-size: 13px; color: var(--soft); background: var(--card);
  border: 0; padding: 4px 12px; cursor: pointer; }
.choice button[aria-pressed=true] { color: var(--ink); background: var(--line); }
label { font-size: 13px; color: var(--soft); display: inline-flex; gap: 8px; align-items: center; }
input { accent-color: var(--c0); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin-top: 14px; }
.legend label { color: var(--ink); cursor: pointer; }
.legend i { width: 14px; height: 3px; border-radius: 2px; }
.chart { position: relative; height: 250px; }
.grid .wide { flex-basis: 100%; }
.wide .chart { height: 340px; }
th[scope=row] { white-space: nowrap; }
summary { cursor: pointer; color: var(--soft); }
.state { padding: 0 8px; border-radius: 9px; background: var(--line); font-size: 12px; }
td { overflow-wrap: anywhere; }
)css";

}  // namespace

/// Reads Chart.js from where the distribution's package or the installation has it. A file that
/// would end the script element cannot stand in a page.
std::string read_chart_library(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw_environment(
        "Chart.js, which draws the report's curves, is not at {}: install Debian's libjs-chart.js "
        "(`make deps` does), or name a copy of Chart.js 3 with --chart-library; --json needs none",
        path.string());
  }
  std::string text = read_file(path);
  if (text.find("Chart") == std::string::npos || text.find("</script") != std::string::npos) {
    throw_environment("{}: this is no Chart.js that a page can hold; give its chart.min.js",
                      path.string());
  }
  return text;
}

/// Writes a page with data, library and script inside.
std::string run_page(std::string_view title, std::string_view runs,
                     std::string_view chart_library) {
  const std::string body = fmt::format(
      "<main></main>\n<script>{}</script>\n"
      "<script type=\"application/json\" id=\"runs\">{}</script>\n<script>{}</script>",
      chart_library, script_json(runs), kRunPageScript);
  return html_page(title, kRunStyle, body);
}

}  // namespace mpitron::report
