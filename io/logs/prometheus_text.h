#pragma once
#include <span>
#include <string>

namespace mpitron::io {

/// A value that a monitoring system collects, without labels.
struct PrometheusMetric {
  std::string name;  // [a-zA-Z_:][a-zA-Z0-9_:]*
  std::string help;  // one line
  double value = 0;
  bool counter = false;  // it only grows; otherwise a gauge
};

/// Prometheus' text format 0.0.4: # HELP, # TYPE and value of each, in their order.
std::string prometheus_text(std::span<const PrometheusMetric> metrics);

inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace mpitron::io
