#pragma once
#include <algorithm>
#include <cstdint>

#include "utils/numbers/shape.h"

namespace mpitron::kernels::host {

inline constexpr std::intptr_t kFetchedAhead = 6144;  // bytes

/// Asks for a line, into L1; any address will do. simd::prefetch stops at L2, which was measured to
/// be slower where little is computed for each line: the load that follows waits again.
/// Inlined at once: as a call, the compiler would drop it for having no effect.
[[gnu::always_inline]] inline void fetch(const void* line) {
  __builtin_prefetch(line);
}

/// Fetches what is read kFetchedAhead bytes later.
template <class T>
[[gnu::always_inline]] inline void fetch_ahead(const T* x) {
  fetch(reinterpret_cast<const char*>(x) + kFetchedAhead);
}

/// Returns how many rows of h elements, which lie anywhere, that distance is; at least one.
template <class T>
Index rows_ahead(Index h) {
  return std::max<Index>(1, kFetchedAhead / std::max<Index>(1, h * Index{sizeof(T)}));
}

}  // namespace mpitron::kernels::host
