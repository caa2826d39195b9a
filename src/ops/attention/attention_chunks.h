#pragma once
#include <vector>

#include "autograd/context.h"
#include "kernels/attention/attention.h"

namespace mpitron::ops {

// Attention within chunks (Llama 4, Meta 2025): a query sees keys of its own chunk of positions
// alone. Each chunk is an attention of its own, so that no kernel knows of them.

/// Rows of queries and keys whose positions lie in one chunk. Either may be none.
struct ChunkRows {
  Index first_query = 0, end_query = 0;
  Index first_key = 0, end_key = 0;

  Index queries() const { return end_query - first_query; }
  Index keys() const { return end_key - first_key; }
};

/// Divides `s` queries and `s_kv` keys at these positions, in rising order.
std::vector<ChunkRows> chunk_rows(const kernels::AttentionPositions& positions, Index s, Index s_kv,
                                  Index chunk);

/// Launches the attention within chunks of `chunk` positions; 0: as it is.
///
/// Numerical contract: attention.h of each chunk by itself. Of one chunk alone the bits are those
/// of the whole. A query without keys here gives 0 and lse -inf, and no gradient.
void launch_in_chunks(autograd::Context& context, const kernels::AttentionForward& whole,
                      Index chunk);
void launch_in_chunks(autograd::Context& context, const kernels::AttentionBackward& whole,
                      Index chunk);

}  // namespace mpitron::ops
