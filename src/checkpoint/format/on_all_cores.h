#pragma once
#include <functional>

#include "utils/numbers/shape.h"

namespace mpitron::checkpoint {

/// Returns how many threads of this process can run at once: a job's share of a node, not the node.
Index usable_cores();

/// Calls body(i) for each i of [0, count), in order of i but on `usable_cores()` threads. The first
/// exception ends the others' work and is thrown on.
void on_all_cores(Index count, const std::function<void(Index)>& body);

}  // namespace mpitron::checkpoint
