#include "cli/fingerprint.h"

#include <fmt/format.h>

#include "build_info.h"

namespace mpitron::cli {

std::string fingerprint() {
  namespace info = build_info;
  return fmt::format("mpitron {} (commit {}, {}, {}, -march={}, {})", info::kVersion, info::kCommit,
                     info::kBuildType, info::kCompiler, info::kArch, info::kCuda);
}

}  // namespace mpitron::cli
