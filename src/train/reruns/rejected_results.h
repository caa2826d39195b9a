#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::train {

/// A result that was rejected, and what its reruns have told of it so far.
struct Rejection {
  std::string status = "RERUN_DISABLED";  // the reference's RerunValidationStatus
  Index rank = 0;
  Index iteration = 0;
  double result = 0;
  std::string message;
};

/// Appends the reference's line to the file of `--result-rejected-tracker-filename`.
void record_rejection(const std::filesystem::path& tracker, const Rejection& rejection);

/// The iterations that a later run should leave out: those whose result the same rank rejected
/// twice or more, reproducibly. An iteration that several ranks of one job rejected is no matter of
/// its data and stays. None without the file; Error(data) for a line of another form.
std::vector<Index> rejected_iterations(const std::filesystem::path& tracker);

}  // namespace mpitron::train
