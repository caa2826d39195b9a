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
/// Returns the row's machine and software; absent where the library has none of that name.
RowParts parts_of(const Library& library, const PublishedRow& row);
/// Returns the stack file of a row: by the closest name that has one (`SOURCE|TABLE|PRECISION` and
/// shorter), else that of unknown software, and `known` (if given) becomes false.
const ParameterFile& stack_file(const Library& library, const PublishedRow& row, bool* known);

/// Returns the row with all that its source leaves out: every microbatch size and number of chunks
/// that divide, what the recipes say, else as many recomputed layers as it takes to fit in `memory`
/// bytes.
std::vector<Job> candidate_jobs(const PublishedRow& row, double memory);

/// A candidate job, and its predicted time by cause.
struct Prediction {
  Job job;
  StepTime time;
};
/// Returns the seconds of a step as measured, or as they follow from the figure that the source
/// tells.
double measured_seconds(const PublishedRow& row, const Machine& machine);

/// Returns the fastest of the candidates, of which there is at least one.
Prediction predict(const Machine& machine, const Stack& stack, const std::vector<Job>& candidates);
/// Returns the fastest of the row's own candidates.
Prediction predict(const Machine& machine, const Stack& stack, const PublishedRow& row);
/// Returns the best layout of a row whose source tells none. No result where neither the source nor
/// a recipe tells shape and batch. Error(kFitsNowhere) where nothing fits.
std::optional<Prediction> predict_best_layout(const Machine& machine, const Stack& stack,
                                              const PublishedRow& row);

}  // namespace mpitron::plan
