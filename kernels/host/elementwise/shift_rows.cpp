// Shifts rows by one position on the host, for labels of tokens further ahead (multi-token
// prediction).
#include "kernels/elementwise/shift_rows.h"

#include <cstring>

namespace mpitron::kernels {

/// Copies bytes. Tokens, labels and masks are small, so one thread does it.
void run(device::HostStream&, const ShiftRows& k) {
  MPITRON_CHECK(k.x.size(0) % k.parts == 0 && k.parts <= 2, k.x.size(0), k.parts);
  const auto row = static_cast<std::size_t>(k.x.bytes() / k.x.size(0));
  const auto part = static_cast<std::size_t>(k.x.size(0) / k.parts) * row;
  const auto shift = [&](std::size_t begin, const In& after) {
    char* const to = static_cast<char*>(k.y.data) + begin;
    std::memcpy(to, static_cast<const char*>(k.x.data) + begin + row, part - row);
    if (after) {
      std::memcpy(to + part - row, after.data, row);
    } else {
      std::memset(to + part - row, 0, row);
    }
  };
  shift(0, k.first_after);
  if (k.parts == 2) {
    shift(part, k.second_after);
  }
}

}  // namespace mpitron::kernels
