#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace mpitron {

/// Returns the middle of the values, of two middle ones their mean; 0 where there are none.
inline double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

}  // namespace mpitron
