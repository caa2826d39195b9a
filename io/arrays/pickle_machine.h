#pragma once
#include <cstddef>
#include <deque>
#include <span>
#include <string>

#include "io/arrays/pickle.h"

namespace mpitron::io {

/// Runs the program that a pickle is and returns the value that it leaves; all that it builds is
/// added to `values`. Error(data) names `source`, position and opcode.
const PickleValue* run_pickle(std::span<const std::byte> bytes, const std::string& source,
                              std::deque<PickleValue>& values);

}  // namespace mpitron::io
