#include "report/metrics_log.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

// Reads metrics.jsonl line by line into columns, and forgets steps that a run did again.

namespace mpitron::report {

using Json = nlohmann::json;

namespace {

/// Returns the step of a line; none where the line, or its step, is none that a run writes.
std::optional<std::int64_t> step_of(const Json& row) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  if (!row.is_object() || !row.contains("step") || !row["step"].is_number_integer()) {
    return std::nullopt;
  }
  const auto step = row["step"].get<std::int64_t>();
  return step >= 0 && step <= kMost ? std::optional(step) : std::nullopt;
}

}  // namespace

/// Reads all lines: those of several starts of a run follow each other, and a step that comes again
/// replaces the older one.
MetricsLog::MetricsLog(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (end > 0) {
      add_line(lines.substr(0, end));
    }
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  for (auto& [name, values] : columns_) {
    values.resize(steps_.size(), kMissing);
  }
}

/// Adds a line; one that is no JSON (a run killed while writing) is left out.
void MetricsLog::add_line(std::string_view line) {
  const Json row = Json::parse(line, nullptr, false);
  const std::optional<std::int64_t> step = step_of(row);
  if (!step) {
    return;
  }
  // An event tells that a run begins or goes on behind this step: what was written beyond it is
  // gone.
  if (row.contains("event")) {
    forget_from(*step + 1);
    return;
  }
  if (!steps_.empty() && *step < steps_.back()) {
    forget_from(*step);
  }
  if (steps_.empty() || steps_.back() != *step) {
    steps_.push_back(*step);
  }
  for (const auto& [name, value] : row.items()) {
    if (name != "step" && (value.is_number() || value.is_null())) {
      std::vector<double>& column = columns_[name];
      column.resize(steps_.size(), kMissing);
      column.back() = value.is_null() ? kMissing : value.get<double>();
    }
  }
}

void MetricsLog::forget_from(std::int64_t step) {
  steps_.erase(std::lower_bound(steps_.begin(), steps_.end(), step), steps_.end());
  for (auto& [name, values] : columns_) {
    values.resize(std::min(values.size(), steps_.size()));
  }
}

std::span<const double> MetricsLog::column(const std::string& name) const {
  const auto found = columns_.find(name);
  return found == columns_.end() ? std::span<const double>() : std::span(found->second);
}

double MetricsLog::last(const std::string& name) const {
  const auto values = column(name);
  const auto found = std::find_if(values.rbegin(), values.rend(),
                                  [](double value) { return std::isfinite(value); });
  return found == values.rend() ? kMissing : *found;
}

}  // namespace mpitron::report
