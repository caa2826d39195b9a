#include "build_info.h"
#include "cli/commands.h"
#include "utils/log.h"

namespace mpitron::cli {

int version(const Arguments&) {
  namespace info = build_info;
  log::print(fmt::format("mpitron {} (commit {}, {}, {}, -march={}, {})", info::kVersion,
                         info::kCommit, info::kBuildType, info::kCompiler, info::kArch,
                         info::kCuda));
  return 0;
}

}  // namespace mpitron::cli
