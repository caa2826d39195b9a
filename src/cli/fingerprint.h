#pragma once
#include <string>

namespace mpitron::cli {

/// Version, commit and build of this program in one line.
std::string fingerprint();

}  // namespace mpitron::cli
