#include "plan/published/validation.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace mpitron::plan {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

}  // namespace

std::string validation_class(const PublishedRow& row, const Machine& machine) {
  if (row.job.model.experts > 0) {
    return "mixture of experts";
  }
  if (machine.peak_16 > 1.5e15) {
    return "dense, Blackwell";
  }
  if (row.model.starts_with("bloom")) {
    return "one model in many layouts";
  }
  return row.job.layout.sharding >= Sharding::gradients && row.job.layout.pipeline == 1
             ? "fully sharded"
             : "tensor and pipeline";
}

Validation validate(const Library& library, const std::vector<PublishedRow>& rows) {
  Validation result;
  for (const PublishedRow& row : rows) {
    const RowParts parts = parts_of(library, row);
    if (!parts.machine) {
      result.unknown_hardware.push_back(&row);
    } else if (!row.layout_known) {
      result.without_layout.push_back(&row);
    } else {
      const Prediction prediction = predict(*parts.machine, *parts.stack, row);
      result.rows.push_back({.row = &row,
                             .group = validation_class(row, *parts.machine),
                             .predicted = prediction.time.seconds(),
                             .stack_is_known = parts.stack_is_known,
                             .time = prediction.time});
    }
  }
  return result;
}

std::vector<ErrorSummary> summarize(const Validation& validation) {
  std::map<std::string, std::vector<double>> errors;
  for (const ValidatedRow& row : validation.rows) {
    errors[row.group].push_back(std::abs(row.error()));
  }
  std::vector<ErrorSummary> result;
  for (auto& [group, values] : errors) {
    std::ranges::sort(values);
    result.push_back(
        {group, values.size(), quantile(values, 0.5), quantile(values, 0.9), values.back()});
  }
  return result;
}

}  // namespace mpitron::plan
