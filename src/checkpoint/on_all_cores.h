#pragma once
#include <functional>

#include "utils/shape.h"

namespace mpitron::checkpoint {

/// Calls body(i) for each i of [0, count), in order of i but on as many threads as this process may
/// use. The first exception ends the others' work and is thrown on.
void on_all_cores(Index count, const std::function<void(Index)>& body);

}  // namespace mpitron::checkpoint
