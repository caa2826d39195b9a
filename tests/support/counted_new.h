#pragma once
#include <cstdint>

namespace mpitron::test {

/// How often this program has called operator new: a program that links counted_new.cpp, which
/// replaces it.
std::int64_t allocations();

}  // namespace mpitron::test
