// Appends to the cache of keys and values (generation): rows of a step go to the places of their
// positions, as they are or rounded to the type of the cache.
#include <algorithm>
#include <cstring>

#include "kernels/attention/cached_attention.h"
#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

constexpr Index kMostNumbers = 1024;  // of a key or value

/// Elements of a cache [blocks, g, block_size, ..], or of its scales, before a row.
Index row_start(const device::TensorView& cache, Index block, Index group, Index row) {
  return block * cache.stride(0) + group * cache.stride(1) + row * cache.stride(2);
}

/// Where the rows of a piece's position lie: in what is appended, and in the cache.
struct RowPlace {
  Index row, block, group, offset;
};

/// Keys or values, and their cache.
struct AppendedPart {
  const In& from;
  const Out& cache;

  Index count() const { return cache.size(3); }
  const void* source(const RowPlace& at) const {
    const Index before = at.row * from.stride(0) + at.group * from.stride(2);
    return static_cast<const char*>(from.data) + before * static_cast<Index>(size_of(from.dtype));
  }
  void* target(const RowPlace& at) const {
    return static_cast<char*>(cache.data) + row_start(cache, at.block, at.group, at.offset) *
                                                static_cast<Index>(size_of(cache.dtype));
  }
  /// Widens the numbers of a row.
  void read(const RowPlace& at, float* numbers) const {
    visit_dtype(from.dtype, [&]<class T>() {
      const T* const x = static_cast<const T*>(source(at));
      simd::for_lanes(count(), [&](Index j, auto lanes) {
        simd::store(numbers + j, simd::load(x + j, lanes), lanes);
      });
    });
  }
  void copy(const RowPlace& at) const {
    std::memcpy(target(at), source(at), static_cast<std::size_t>(count()) * size_of(cache.dtype));
  }
  void round(const RowPlace& at) const {
    float numbers[kMostNumbers];
    read(at, numbers);
    visit_dtype(cache.dtype, [&]<class T>() {
      T* const y = static_cast<T*>(target(at));
      simd::for_lanes(count(), [&](Index j, auto lanes) {
        simd::store(y + j, simd::load(numbers + j, lanes), lanes);
      });
    });
  }
};

/// Rounds rows of some parts, which share a scale, to 8 bits.
void round_to_bytes(std::span<const AppendedPart> parts, const Out& scales, const RowPlace& at) {
  float numbers[2][kMostNumbers];
  RowRange range;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].read(at, numbers[i]);
    for (Index j = 0; j < parts[i].count(); ++j) {
      range.add(numbers[i][j]);
    }
  }
  const std::uint8_t scale = range.scale();
  const float to_range = to_cached_range(scale);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto* const bytes = static_cast<CachedByte*>(parts[i].target(at));
    for (Index j = 0; j < parts[i].count(); ++j) {
      bytes[j] = cached_byte(numbers[i][j] * to_range);
    }
  }
  scales.as<std::uint8_t>()[row_start(scales, at.block, at.group, at.offset)] = scale;
}

void put_row(const CacheAppend& k, const RowPlace& at) {
  const AppendedPart parts[] = {{k.k, k.key_cache}, {k.v, k.value_cache}};
  if (k.key_scales) {
    const bool shared = !k.value_scales;
    round_to_bytes(std::span(parts).first(shared ? 2 : 1), k.key_scales, at);
    if (!shared) {
      round_to_bytes(std::span(parts).last(1), k.value_scales, at);
    }
    return;
  }
  for (const AppendedPart& part : parts) {
    part.from.dtype == part.cache.dtype ? part.copy(at) : part.round(at);
  }
}

/// Appends rows [begin, end) of a piece.
void put_rows(const CacheAppend& k, const CachedPiece& piece, Index begin, Index end) {
  const Index size = k.key_cache.size(2);
  for (Index i = begin; i < end; ++i) {
    const Index position = piece.first_position + i;
    const Index block = piece.blocks[static_cast<std::size_t>(position / size)];
    for (Index group = 0; block >= 0 && group < k.key_cache.size(1); ++group) {
      put_row(k, {piece.first_row + i, block, group, position % size});
    }
  }
}

}  // namespace

void run(device::HostStream&, const CacheAppend& kernel) {
  check(kernel);
  MPITRON_CHECK(
      kernel.key_cache.size(3) <= kMostNumbers && kernel.value_cache.size(3) <= kMostNumbers,
      kernel.key_cache.size(3), kernel.value_cache.size(3));
  Index rows = 0;
  for (const CachedPiece& piece : kernel.pieces) {
    rows += piece.rows;
  }
  host::for_ranges(rows, kernel.k.numel() + kernel.v.numel(), [&](Index begin, Index end) {
    for (const CachedPiece& piece : kernel.pieces) {
      const Index first = std::clamp(begin, Index{0}, piece.rows);
      const Index last = std::clamp(end, first, piece.rows);
      put_rows(kernel, piece, first, last);
      begin -= piece.rows, end -= piece.rows;
    }
  });
}

}  // namespace mpitron::kernels
