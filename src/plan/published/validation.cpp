#include "plan/published/validation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "plan/published/recipes.h"
#include "plan/published/refit.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// Holds predictions against published steps: all rows as they are, rows that a fit has not seen,
// and rows whose layout has to be searched.

namespace mpitron::plan {
namespace {

/// Interpolates between the two values next to the share.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

ValidatedRow validated(const RowParts& parts, const PublishedRow& row) {
  const Prediction prediction = predict(*parts.machine, *parts.stack, row);
  return {.row = &row,
          .group = validation_class(row, *parts.machine),
          .published = measured_seconds(row, *parts.machine),
          .predicted = prediction.time.seconds(),
          .stack_is_known = parts.stack_is_known,
          .time = prediction.time};
}

/// Predicts the best layout of a row; no result where nobody tells shape and batch.
std::optional<ValidatedRow> with_best_layout(const Library& library, const PublishedRow& row) {
  PublishedRow complete = row;
  apply_recipes(shipped_recipes(), complete);
  const RowParts parts = parts_of(library, complete);
  const auto best = predict_best_layout(*parts.machine, *parts.stack, complete);
  if (!best) {
    return std::nullopt;
  }
  return ValidatedRow{.row = &row,
                      .group = "layout searched",
                      .published = measured_seconds(complete, *parts.machine),
                      .predicted = best->time.seconds(),
                      .stack_is_known = parts.stack_is_known,
                      .time = best->time,
                      .layout = to_text(best->job.run)};
}

/// Predicts a row, or notes why it is not.
void add_row(const Library& library, const PublishedRow& row, Validation& result) {
  const RowParts parts = parts_of(library, row);
  if (!parts.machine) {
    result.unknown_hardware.push_back(&row);
  } else if (!row.layout_known) {
    result.without_layout.push_back(&row);
  } else {
    try {
      result.rows.push_back(validated(parts, row));
    } catch (const Error& error) {
      result.refused.emplace_back(&row, error.what());
    }
  }
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
  const bool sharded = p.sharding_strategy == config::ShardingStrategy::optim_grads_params ||
                       (p.sharding_strategy == config::ShardingStrategy::optim_grads &&
                        p.pipeline_model_parallel_size == 1);
  return sharded ? "fully sharded" : "tensor and pipeline";
}

double error_scale(const std::string& group) {
  return group == "mixture of experts"          ? 0.08
         : group == "tensor and pipeline"       ? 0.03
         : group == "one model in many layouts" ? 0.05
                                                : 0.04;
}

Validation cross_validate(const Library& library, const std::vector<PublishedRow>& rows, HeldOut by,
                          Index folds) {
  const auto part_of = [&](const PublishedRow& row) -> std::string {
    if (by == HeldOut::sources) {
      return row.source;
    }
    // Parts by a hash of names: a row stays in its part when others are added.
    const std::string name = by == HeldOut::tables ? row.source + row.table : row.id;
    return std::to_string(hash64(name) % static_cast<std::uint64_t>(folds));
  };
  std::set<std::string> parts;
  std::ranges::transform(rows, std::inserter(parts, parts.end()), part_of);
  Validation all;
  for (const std::string& part : parts) {
    std::vector<PublishedRow> others;
    std::ranges::copy_if(rows, std::back_inserter(others),
                         [&](const PublishedRow& row) { return part_of(row) != part; });
    Library fitted = library;
    refit(fitted, others);
    for (const PublishedRow& row : rows) {
      if (part_of(row) == part) {
        add_row(fitted, row, all);
      }
    }
  }
  return all;
}

Validation validate(const Library& library, const std::vector<PublishedRow>& rows) {
  Validation result;
  for (const PublishedRow& row : rows) {
    add_row(library, row, result);
  }
  return result;
}

void search_layouts(const Library& library, Validation& validation) {
  std::vector<const PublishedRow*> left;
  for (const PublishedRow* row : validation.without_layout) {
    try {
      if (auto searched = with_best_layout(library, *row)) {
        validation.rows.push_back(std::move(*searched));
      } else {
        left.push_back(row);
      }
    } catch (const Error& error) {
      validation.refused.emplace_back(row, error.what());
    }
  }
  validation.without_layout = std::move(left);
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
