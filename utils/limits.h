#pragma once
#include "utils/shape.h"

namespace mpitron {

/// Most experts that a router chooses from: its kernels keep the scores of a token on the stack.
inline constexpr Index kMostExperts = 2048;

}  // namespace mpitron
