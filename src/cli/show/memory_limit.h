#pragma once
#include "utils/numbers/shape.h"

namespace mpitron::cli {

/// Error(environment) where a run needs more than ten times the memory there is, so that a mistyped
/// size ends at once and not after minutes of swapping. Bytes.
void refuse_absurd_memory(double needed, Index available);

}  // namespace mpitron::cli
