#include "plan/published/validation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "plan/published/refit.h"
#include "utils/text/hash.h"

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
  if (row.run.model.moe) {
    return "mixture of experts";
  }
  if (machine.peak_16 > 1.5e15) {
    return "dense, Blackwell";
  }
  if (row.model.starts_with("bloom")) {
    return "one model in many layouts";
  }
  const config::ParallelConfig& p = row.run.parallel;
  return p.sharding_strategy >= config::ShardingStrategy::optim_grads &&
                 p.pipeline_model_parallel_size == 1
             ? "fully sharded"
             : "tensor and pipeline";
}

double error_scale(const std::string& group) {
  return group == "mixture of experts"          ? 0.08
         : group == "tensor and pipeline"       ? 0.03
         : group == "one model in many layouts" ? 0.05
                                                : 0.04;
}

Validation cross_validate(const Library& library, const std::vector<PublishedRow>& rows,
                          Index folds, bool by_table) {
  const auto part_of = [&](const PublishedRow& row) {
    const std::string name = by_table ? row.source + row.table : row.id;
    return static_cast<Index>(hash64(name) % static_cast<std::uint64_t>(folds));
  };
  Validation all;
  for (Index part = 0; part < folds; ++part) {
    std::vector<PublishedRow> others;
    for (const PublishedRow& row : rows) {
      if (part_of(row) != part) {
        others.push_back(row);
      }
    }
    Library fitted = library;
    refit(fitted, others);
    for (ValidatedRow& told : validate(fitted, rows).rows) {
      if (part_of(*told.row) == part) {
        all.rows.push_back(std::move(told));
      }
    }
  }
  return all;
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
