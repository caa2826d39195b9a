#pragma once
#include "cli/command.h"

namespace mpitron::cli {

/// `mpitron plan --validate FILE [--refit [--folder FOLDER]] [--rows] [--json]`: predicted beside
/// published steps, errors by class.
int plan_validation(const Arguments& arguments);

}  // namespace mpitron::cli
