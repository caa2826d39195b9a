#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "report/run_folder.h"

namespace mpitron::report {

/// The runs as one JSON object: {"runs": [{name, state, facts, given, options, columns}]}. The
/// columns stand over "iteration", "tokens" and "hours" (of training, without pauses between jobs);
/// null where a value is missing. Of more than `points` rows every so manieth is kept, and all that
/// hold a rare value (a validation loss); 0 keeps all. `mpitron report --json` and its page have
/// the same.
std::string runs_json(const std::vector<RunFolder>& runs, std::size_t points,
                      std::filesystem::file_time_type now);

}  // namespace mpitron::report
