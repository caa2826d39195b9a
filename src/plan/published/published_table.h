#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/model/layout.h"

namespace mpitron::plan {

/// A measured step of another system. What its source does not say is none.
struct PublishedRow {
  Index line = 0;
  std::string id, source, table, kind, hardware, model, options;
  bool layout_known = true;  // false: kind `search`
  Job job;
  std::optional<Index> micro_batch, chunks;
  std::optional<Recompute> recompute;
  double seconds = 0;  // of a step
  double value = 0;    // as reported
  std::string unit;
};

/// A table of tab-separated values with a header. Columns are found by name. Error(kBadTable)
/// names file, line and column for a column that is missing and a value that cannot be.
std::vector<PublishedRow> read_published_table(const std::filesystem::path& path);

}  // namespace mpitron::plan
