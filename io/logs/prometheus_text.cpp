#include "io/logs/prometheus_text.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

// Prometheus' text exposition format, version 0.0.4: one HELP, one TYPE and one value line a
// metric.

namespace mpitron::io {
namespace {

/// Numbers that are not finite have words of their own in this format.
std::string number(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  return std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf") : fmt::format("{}", value);
}

/// A help text is one line: backslashes and line ends are escaped.
std::string escaped(const std::string& help) {
  std::string text;
  for (const char c : help) {
    text += c == '\\' ? "\\\\" : c == '\n' ? "\\n" : std::string(1, c);
  }
  return text;
}

}  // namespace

std::string prometheus_text(std::span<const PrometheusMetric> metrics) {
  std::string text;
  for (const PrometheusMetric& metric : metrics) {
    fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n",
                   metric.name, escaped(metric.help), metric.counter ? "counter" : "gauge",
                   number(metric.value));
  }
  return text;
}

}  // namespace mpitron::io
