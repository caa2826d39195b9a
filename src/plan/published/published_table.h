#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/model/job.h"
#include "plan/model/layout.h"

namespace mpitron::plan {

/// A measured step of another system. What its source does not say is none.
struct PublishedRow {
  Index line = 0;
  std::string id, source, table, kind, hardware, precision, model, options;
  bool layout_known = true;  // false: kind `search`
  config::RunConfig run;     // the columns as options; without what follows
  Practice practice;
  std::optional<Index> micro_batch, chunks;
  bool recompute_known = false;
  double seconds = 0;  // of a step
  double value = 0;    // as reported
  std::string unit;
};

/// A table of tab-separated values with a header. Columns are found by name. Error(kBadTable)
/// names file, line and column for a column that is missing and a value that cannot be.
std::vector<PublishedRow> read_published_table(const std::filesystem::path& path);

}  // namespace mpitron::plan
