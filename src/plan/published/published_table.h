#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/model/flops_formula.h"
#include "plan/model/job.h"
#include "plan/model/layout.h"

namespace mpitron::plan {

/// Units of a source's figure.
enum class FigureUnit {
  none,
  seconds,  // of a step
  milliseconds,
  tokens_of_gpu,  // a second
  tokens,
  samples,
  tera_of_gpu,  // operations a second, 1e12
  utilization   // percent of the peak of 16 bits
};

/// A measured step of another system. Values that its source does not say are none.
struct PublishedRow {
  Index line = 0;
  std::string id, source, table, kind, hardware, precision, model, options;
  bool layout_known = true;  // false: kind `search`, or tp or pp is `?`
  config::RunConfig run;     // the columns as options; without what follows
  Practice practice;
  std::optional<Index> micro_batch, chunks;
  bool recompute_known = false;
  double seconds = 0;  // of a step; 0: only what follows is told
  double value = 0;    // as reported
  FigureUnit unit = FigureUnit::none;
  FlopsFormula formula = FlopsFormula::full;  // of figures of operations
};

/// Reads a table of tab-separated values with a header. Columns are found by name, in any order;
/// those of what a source may leave out may be missing, and their cells blank or `?`.
/// Error(kBadTable) names file, line and column for a needed column that is missing and a value
/// that cannot be.
std::vector<PublishedRow> read_published_table(const std::filesystem::path& path);

}  // namespace mpitron::plan
