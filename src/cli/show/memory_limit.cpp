#include "cli/show/memory_limit.h"

#include "utils/error.h"

namespace mpitron::cli {

void refuse_absurd_memory(double needed, Index available) {
  constexpr double kGigabyte = 1e9;
  constexpr double kMostTimes = 10;
  const auto there = static_cast<double>(available);
  if (needed > kMostTimes * there) {
    throw_environment(
        "this run needs about {:.0f} GB, more than ten times the {:.0f} GB of memory that there "
        "are: is one of --num-layers, --hidden-size, --seq-length and --micro-batch-size mistyped?",
        needed / kGigabyte, there / kGigabyte);
  }
}

}  // namespace mpitron::cli
