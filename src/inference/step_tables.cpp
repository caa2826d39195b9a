#include "inference/step_tables.h"

#include <algorithm>

#include "tensor/host_copy.h"

// What a step tells the kernels of its rows as numbers in the device's memory. A GPU reads them
// when the step's kernels run, so they travel through page-locked memory that nobody else writes to
// before that.

namespace mpitron::inference {

using tensor::Tensor;

Tensor on_device(device::Device& device, std::span<const std::int64_t> values) {
  const auto count = static_cast<Index>(values.size());
  const Tensor host = tensor::empty_on_host(device, {count}, DType::i64);
  std::ranges::copy(values, host.data<std::int64_t>());
  return tensor::to_device(device, host);
}

Tensor piece_table(device::Device& device, std::span<const kernels::CachedPiece> pieces, Index rows,
                   bool causal, std::vector<std::int64_t>& words) {
  if (device.tensors_on_host() || pieces.empty()) {
    return {};
  }
  kernels::append_piece_table(pieces, rows, causal, words);
  return on_device(device, words);
}

/// Pieces that are cut carry no states: none of such a model's layers has any.
void append_pieces(const kernels::CachedPiece& piece, std::span<const TokenId> ids,
                   std::vector<kernels::CachedPiece>& pieces) {
  const auto of_image = [&](Index row) {
    return row < static_cast<Index>(ids.size()) && ids[static_cast<std::size_t>(row)] < 0;
  };
  for (Index row = 0; row < piece.rows;) {
    Index end = row + 1;
    while (end < piece.rows && of_image(end) == of_image(row)) {
      ++end;
    }
    pieces.push_back(piece);
    pieces.back().first_row += row;
    pieces.back().first_position += row;
    pieces.back().rows = end - row;
    pieces.back().together = of_image(row);
    row = end;
  }
}

std::vector<kernels::CachedPiece> pieces_of_chunks(std::span<const kernels::CachedPiece> pieces,
                                                   Index chunk, Index block_size) {
  MPITRON_CHECK(chunk % block_size == 0, chunk, block_size);
  std::vector<kernels::CachedPiece> cut;
  for (const kernels::CachedPiece& piece : pieces) {
    for (Index row = 0; row < piece.rows;) {
      const Index position = piece.first_position + row, from = position / chunk * chunk;
      const Index rows = std::min(piece.rows - row, from + chunk - position);
      cut.push_back({.first_row = piece.first_row + row,
                     .rows = rows,
                     .first_position = position - from,
                     .blocks = piece.blocks.subspan(static_cast<std::size_t>(from / block_size))});
      row += rows;
    }
  }
  return cut;
}

}  // namespace mpitron::inference
