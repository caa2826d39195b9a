#pragma once
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpitron::report {

/// Points in the order of x; one whose y is not finite is left out.
/// `name` stands in the legend where there are several lines.
struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool dashed = false;     // an expectation, not a measurement
  bool elsewhere = false;  // of other people: grey, behind the others and one in the legend
  bool joined = true;      // by lines; else dots alone
};

/// A picture of one quantity over another.
struct Plot {
  std::string title;
  std::string x_label;
  /// Colours follow the order of lines.
  std::vector<PlotLine> lines;
  bool logarithmic_x = false;  // values must be above 0
  bool logarithmic_y = false;  // points that are not above 0 are left out
};

/// Returns the plot as an <svg> element, with a legend of several lines, its colours from the
/// page's (--c0, --ink, ...). Scales begin at 0 unless they are logarithmic; x is marked at the
/// values of points. Text is escaped for HTML here.
std::string svg_plot(const Plot& plot);

/// Round steps over 0 to `most`, about `count` of them; for a logarithmic scale powers of ten
/// between the two, or 1, 2 and 5 times these where fewer than three of them fit.
/// 0 alone where `most` is not above 0.
std::vector<double> linear_ticks(double most, int count);
std::vector<double> logarithmic_ticks(double least, double most);
/// Returns where the x axis is marked, of the points' places `xs`: there, or at round values where
/// there are many.
std::vector<double> x_marks(const Plot& plot, const std::set<double>& xs);

/// Returns "12k", "3.4M": three digits at most.
std::string short_number(double value);

/// Returns text as it may stand between tags and in quoted attributes.
std::string html_text(std::string_view text);

/// Returns JSON as it may stand inside a script element: no text of it can end the element.
std::string script_json(std::string_view json);

/// Returns a whole page without any reference to another file, light or dark as the reader's system
/// is. `style`: CSS beside what all pages share; `body`: HTML.
std::string html_page(std::string_view title, std::string_view style, std::string_view body);

}  // namespace mpitron::report
