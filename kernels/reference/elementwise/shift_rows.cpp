#include "kernels/elementwise/shift_rows.h"

#include <cstring>

namespace mpitron::kernels {

/// Each row takes the one behind it; the last of a part that of the next part's owner, or zeros.
/// Copies bytes: no rounding.
void run(device::ReferenceStream&, const ShiftRows& k) {
  const Index length = k.x.size(0) / k.parts;
  const auto row = static_cast<std::size_t>(k.x.size(1)) * size_of(k.x.dtype);
  const auto at = [row](const auto& view, Index i) {
    return static_cast<const char*>(view.data) + static_cast<std::size_t>(i) * row;
  };
  for (Index i = 0; i < k.x.size(0); ++i) {
    const In& after = i < length ? k.first_after : k.second_after;
    char* const to = static_cast<char*>(k.y.data) + static_cast<std::size_t>(i) * row;
    if ((i + 1) % length != 0) {
      std::memcpy(to, at(k.x, i + 1), row);
    } else if (after) {
      std::memcpy(to, after.data, row);
    } else {
      std::memset(to, 0, row);
    }
  }
}

}  // namespace mpitron::kernels
