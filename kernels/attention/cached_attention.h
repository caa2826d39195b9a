#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "device/streams.h"
#include "device/tensor_view.h"
#include "kernels/attention/cached_numbers.h"

namespace mpitron::kernels {

/// Rows of a step that belong to one sequence, in order of position, and where its keys and values
/// lie: blocks[i] holds positions [i * block_size, (i + 1) * block_size); -1: not here.
struct CachedPiece {
  Index first_row = 0, rows = 0;
  Index first_position = 0;
  std::span<const Index> blocks;
  // Of layers that carry numbers of a fixed size from position to position: the place of what they
  // carry in front of the first row (-1: nothing stands there, it is 0), and the place for what
  // they carry behind the last row. Both may be the same; no two pieces write to one place, and
  // none reads what another one writes.
  Index state_from = -1, state_to = -1;
  bool together = false;  // every row sees them all; not with a bias, and not on GPUs
};

/// The same for kernels of a GPU, as one list of words: of row i the position at [2 i] (-1: it
/// belongs to no piece) and at [2 i + 1] where the list of its blocks begins. Where rows are not
/// causal they all have the position of their piece's first.
inline void append_piece_table(std::span<const CachedPiece> pieces, Index rows, bool causal,
                               std::vector<std::int64_t>& table) {
  table.assign(static_cast<std::size_t>(2 * rows), -1);
  for (const CachedPiece& piece : pieces) {
    MPITRON_CHECK(!piece.together, piece.first_row);
    for (Index i = 0; i < piece.rows; ++i) {
      const auto at = static_cast<std::size_t>(2 * (piece.first_row + i));
      table[at] = piece.first_position + (causal ? i : 0);
      table[at + 1] = static_cast<std::int64_t>(table.size());
    }
    table.insert(table.end(), piece.blocks.begin(), piece.blocks.end());
  }
}

/// Writes keys and values of all rows whose blocks are here to their places in the cache.
///
/// Numerical contract: exact, the same bits on every device. k and v of one type, both caches of
/// one type: that of k, whose numbers are copied, bf16, to which they are rounded to nearest even,
/// or u8 with scales, rows of cached_numbers.h. What a row becomes follows from the row alone. Rows
/// of different sequences must not share a place.
struct CacheAppend {
  static constexpr const char* name = "cache_append";
  // Any strides but a contiguous last dimension.
  In k;             // [t, 1, g, d]
  In v;             // [t, 1, g, dv]
  Out key_cache;    // [blocks, g, block_size, d]
  Out value_cache;  // [blocks, g, block_size, dv]
  std::span<const CachedPiece> pieces;
  In table = {};          // of a GPU: append_piece_table
  Out key_scales = {};    // [blocks, g, block_size], u8, of caches in u8
  Out value_scales = {};  // likewise; absent: a row's key and value are rounded as one row

  template <class F>
  void views(F&& f) const {
    f("k", k), f("v", v);
  }
};

/// Causal softmax attention of a step's rows over all that the cache holds of their sequences
/// (blocks as in PagedAttention, Kwon et al. 2023; online softmax, Dao et al. 2022). Positions
/// whose blocks are not here are left out.
///
/// Numerical contract
///   types:        q, caches, o fp32, bf16 or fp16, all the same; sinks of any of them. Caches may
///                 also be bf16 or, with scales, u8 (cached_numbers.h) where q and o are not;
///                 their numbers are read exactly
///   accumulation: fp32 (reference: double), of a score in pairs where q is bf16, keys are bf16 or
///                 u8 and the processor can; scales of u8 times whole sums of products; over
///                 positions in rising order, in groups that begin at fixed ones: a row's bits
///                 depend on its sequence and the block size alone, not on other rows or threads
///   visibility:   row i at position p sees positions max(0, p - window) .. p, or up to that of the
///                 piece's last row where the piece is one together; where it is not causal, every
///                 row sees all positions up to that of the piece's first row
///   soft cap:     with softcap > 0 the scaled score x becomes softcap tanh(x / softcap)
///   bias:         that of distance key - query is added to the scaled score
///   sink:         one more logit in the softmax, without a value (kernels/attention/sink)
///                 (a GPU adds up 256 positions at a time and joins them in fp32)
///   outputs:      o `=`, rounded once; lse `=`, the logarithm of the sum of powers, fp32; where a
///                 row sees nothing o is 0 and lse -inf
struct CachedAttention {
  static constexpr const char* name = "cached_attention";
  // Any strides but a contiguous last dimension.
  In q;            // [t, 1, g, n/g, d]
  In key_cache;    // [blocks, g, block_size, d]
  In value_cache;  // [blocks, g, block_size, dv]; may be columns of the keys
  In sinks;        // [n], optional
  In bias;         // [2 s - 1, n], optional: row distance + s - 1, for positions below s
  Out o;           // [t, n, dv], contiguous; as q, or fp32
  Out lse;         // [t, n], contiguous, optional
  std::span<const CachedPiece> pieces;
  float scale = 1;
  Index window = -1;       // keys before the query that are visible besides itself; -1: all
  float softcap = 0;       // bound of the scores; 0: none
  bool zero_sink = false;  // a sink of logit 0 for every head
  bool causal = true;
  In table = {};             // of a GPU: append_piece_table
  In key_scales = {};        // [blocks, g, block_size], u8, of caches in u8
  In value_scales = {};      // likewise; may be those of the keys
  Index most_positions = 0;  // of a GPU: that any row sees; 0: as the pieces say
  Out workspace = {};        // of a GPU

  template <class F>
  void views(F&& f) const {
    f("q", q), f("o", o);
  }
};

/// Refuses arguments that do not fit together.
inline void check(const CacheAppend& k) {
  const DType cache = k.key_cache.dtype;
  MPITRON_CHECK(k.k.dtype == k.v.dtype && k.value_cache.dtype == cache, name_of(k.k.dtype));
  MPITRON_CHECK(cache == k.k.dtype || cache == DType::bf16 || cache == DType::u8, name_of(cache));
  MPITRON_CHECK((cache == DType::u8) == static_cast<bool>(k.key_scales), name_of(cache));
}
inline void check(const CachedAttention& k) {
  const DType cache = k.key_cache.dtype;
  MPITRON_CHECK(k.value_cache.dtype == cache, name_of(cache), name_of(k.value_cache.dtype));
  MPITRON_CHECK(cache == k.q.dtype || cache == DType::bf16 || cache == DType::u8, name_of(cache));
  MPITRON_CHECK((cache == DType::u8) == (k.key_scales && k.value_scales), name_of(cache));
}

void run(device::ReferenceStream&, const CacheAppend&);
void run(device::ReferenceStream&, const CachedAttention&);
void run(device::HostStream&, const CacheAppend&);
void run(device::HostStream&, const CachedAttention&);
void run(device::CudaStream&, const CacheAppend&);
void run(device::CudaStream&, const CachedAttention&);
Index workspace_bytes(const device::CudaStream&, const CachedAttention&);

}  // namespace mpitron::kernels
