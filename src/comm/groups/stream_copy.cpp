#include "comm/groups/stream_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace mpitron::comm {
namespace {

constexpr Index kStreamBytes = Index{16} << 20;  // copies from here on would only fill the caches

}  // namespace

#ifdef __SSE2__
/// Stores whole cache lines past the caches; the ends that fill none are copied as usual.
void stream_copy(void* to, const void* from, Index bytes) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  const auto misaligned = static_cast<Index>(-reinterpret_cast<std::intptr_t>(out) & 63);
  const Index head = std::min(bytes, misaligned);
  std::memcpy(out, in, static_cast<std::size_t>(head));
  Index at = head;
  for (; at + 64 <= bytes; at += 64) {
    for (Index i = at; i < at + 64; i += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
    }
  }
  std::memcpy(out + at, in + at, static_cast<std::size_t>(bytes - at));
  _mm_sfence();  // before others are told that the copy is there
}
#else
void stream_copy(void* to, const void* from, Index bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}
#endif

/// Past the caches only where the whole operation is large: small ones are read again soon.
void copy_part(void* to, const void* from, Index bytes, Index whole) {
  if (whole >= kStreamBytes) {
    stream_copy(to, from, bytes);
  } else {
    copy_bytes(to, from, bytes);
  }
}

void copy_bytes(void* to, const void* from, Index bytes) {
  if (to != from && bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

}  // namespace mpitron::comm
