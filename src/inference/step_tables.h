#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "inference/engine_interface.h"
#include "kernels/attention/cached_attention.h"
#include "tensor/tensor.h"

namespace mpitron::inference {

/// Numbers of a step's rows for kernels, [count], int64; for what is queued from now on.
tensor::Tensor on_device(device::Device& device, std::span<const std::int64_t> values);

/// Tells a step's kernels on a GPU where the rows' blocks lie (kernels::append_piece_table); absent
/// on the host, whose kernels read the pieces themselves. `words`: memory that the caller keeps.
tensor::Tensor piece_table(device::Device& device, std::span<const kernels::CachedPiece> pieces,
                           Index rows, bool causal, std::vector<std::int64_t>& words);

/// Appends a piece, cut in front of and behind its runs of ids below 0, which see each other.
/// Where no `ids` of its rows are given none do; rows behind the last id are of words.
void append_pieces(const kernels::CachedPiece& piece, std::span<const TokenId> ids,
                   std::vector<kernels::CachedPiece>& pieces);

/// Cuts pieces where chunks of `chunk` positions begin (autograd::CachedPass::chunked). Blocks of
/// `block_size` positions fill a chunk.
std::vector<kernels::CachedPiece> pieces_of_chunks(std::span<const kernels::CachedPiece> pieces,
                                                   Index chunk, Index block_size);

}  // namespace mpitron::inference
