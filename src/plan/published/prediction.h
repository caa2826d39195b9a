#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plan/machine/library.h"
#include "plan/published/published_table.h"
#include "plan/time/step_time.h"

namespace mpitron::plan {

/// Machine and software of a row by their names in the library.
struct RowParts {
  std::optional<Machine> machine;
  std::optional<Stack> stack;
  bool stack_is_known = true;  // else that of software that nothing is known of
};
RowParts parts_of(const Library& library, const PublishedRow& row);
/// Names under which stacks are looked for, the closest first: `SOURCE|TABLE|PRECISION|KIND` and
/// shorter.
std::vector<std::string> stack_names(const PublishedRow& row);

struct Prediction {
  Job job;  // with what the source does not say, as it would be fastest
  StepTime time;
};
/// Microbatch, chunks and recompute that are not given are those of the fastest step that fits.
Prediction predict(const Machine& machine, const Stack& stack, const PublishedRow& row);

}  // namespace mpitron::plan
