#pragma once
#include <vector>

#include "kernels/reference/elements.h"
#include "kernels/stored_numbers.h"

namespace mpitron::kernels::reference {

/// All numbers, and storing all numbers (rounded to fp32 first where they are not stored plainly).
std::vector<double> read_stored(const StoredNumbers& x);
void write_stored(const std::vector<double>& numbers, const StoredNumbers& y);

}  // namespace mpitron::kernels::reference
