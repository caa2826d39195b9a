#include "io/logs/prometheus_text.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace mpitron::io {
namespace {

std::string number(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  return std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf") : fmt::format("{}", value);
}

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
