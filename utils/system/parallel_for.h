#pragma once
#include <cstddef>
#include <functional>

#include "utils/numbers/shape.h"

namespace mpitron {

/// Calls body(i) for i < count on up to `threads` threads; the first exception is thrown again.
void parallel_for(std::size_t count, Index threads, const std::function<void(std::size_t)>& body);

}  // namespace mpitron
