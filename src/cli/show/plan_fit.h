#pragma once
#include "cli/command.h"

namespace mpitron::cli {

/// `mpitron plan --fit RUN_DIR... --machine NAME [--stack NAME] [--stack-out FILE.yaml]`: fits
/// values of the software to the steps of runs and writes them as a stack file.
int plan_fit(const Arguments& arguments);

/// `mpitron plan --from-trace DIR --machine NAME [--what-if layout]`: the model held against the
/// traces of a profiled run, and a prediction of another layout that is corrected by them.
int plan_from_trace(const Arguments& arguments);

}  // namespace mpitron::cli
