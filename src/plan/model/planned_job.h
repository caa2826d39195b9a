#pragma once
#include "config/run_config.h"
#include "plan/model/layout.h"

namespace mpitron::plan {

/// The step that these options describe. The vocabulary is what the options say of it.
Job job_of(const config::RunConfig& run);

}  // namespace mpitron::plan
