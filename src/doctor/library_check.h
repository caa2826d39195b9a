#pragma once
#include <vector>

#include "doctor/check_result.h"
#include "utils/library_version.h"

namespace mpitron::doctor {

/// Fails where a library was exchanged for another major or minor version after the build.
CheckResult check_libraries(const std::vector<LibraryVersion>& libraries);

}  // namespace mpitron::doctor
