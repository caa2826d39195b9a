#pragma once
#include <vector>

#include "kernels/elementwise/stored_numbers.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels::reference {

/// Read and write all numbers of a tensor (rounded to fp32 first where they are not stored
/// plainly).
std::vector<double> read_stored(const StoredNumbers& x);
void write_stored(const std::vector<double>& numbers, const StoredNumbers& y);

}  // namespace mpitron::kernels::reference
