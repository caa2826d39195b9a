#include "inference/decode_graphs.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "tensor/host_copy.h"
#include "utils/check.h"

// Numbers in the arguments of a recorded kernel stay what they were, so a graph is made for a
// number of rows and for a length: steps are filled up to the next of both. What differs from step
// to step (ids, positions, blocks) is read from memory that is written before the launch.

namespace mpitron::inference {
namespace {

using tensor::Tensor;

/// Positions that one launch of attention divides a sequence by.
constexpr Index kPositions = 256;

/// 1, 2, 4, 8 rows, and multiples of 8 behind them.
Index rounded_rows(Index rows) {
  return rows > 8 ? (rows + 7) / 8 * 8
                  : static_cast<Index>(std::bit_ceil(static_cast<std::size_t>(rows)));
}

/// The longest sequence's chunks, up to the next power of two.
Index rounded_chunks(const StepPlan& plan) {
  Index longest = 0;
  for (const SequenceStep& sequence : plan.sequences) {
    longest = std::max(longest, sequence.first_position + 1);
  }
  return static_cast<Index>(
      std::bit_ceil(static_cast<std::size_t>((longest + kPositions - 1) / kPositions)));
}

}  // namespace

DecodeGraphs::DecodeGraphs(device::Device& device, const EngineShape& shape, Index chunk)
    : device_(device),
      block_size_(shape.block_size),
      most_blocks_((shape.max_positions + shape.block_size - 1) / shape.block_size),
      chunk_(chunk) {
  MPITRON_CHECK(chunk % block_size_ == 0, chunk, block_size_);
}

bool DecodeGraphs::serves(const StepPlan& plan) {
  return !plan.sequences.empty() &&
         std::ranges::all_of(plan.sequences, [](const SequenceStep& sequence) {
           return sequence.tokens.size() == 1 && sequence.tokens[0] >= 0 &&
                  sequence.logits_from == 0 && sequence.own_drafts == 0 && sequence.seen == 0 &&
                  sequence.adapter == nullptr;
         });
}

/// The memory of a new kind of step: ids, positions, and a table whose lists of blocks all have
/// room for the longest sequence. In front of the table stand the rows of that of chunks, which has
/// the same lists and begins each of them where the row's chunk does.
DecodeGraphs::Recorded& DecodeGraphs::graph_of(const StepPlan& plan) {
  const Index rows = rounded_rows(static_cast<Index>(plan.sequences.size()));
  const Index chunks = rounded_chunks(plan);
  const auto [place, missing] = graphs_.try_emplace({rows, chunks});
  Recorded& made = place->second;
  if (missing) {
    const Index words = rows * (6 + most_blocks_), longest = chunks * kPositions;
    made.numbers = Tensor::empty(device_, {words}, DType::i64);
    made.rows = {.pieces = {{.rows = rows, .first_position = longest - rows}},
                 .ids = made.numbers.slice(0, 0, rows),
                 .positions = made.numbers.slice(0, rows, 2 * rows),
                 .table = made.numbers.slice(0, 4 * rows, words)};
    if (chunk_ > 0) {
      const Index within = std::max(rows, std::min(longest, chunk_));
      made.rows.chunked = {{.rows = rows, .first_position = within - rows}};
      made.rows.chunked_table = made.numbers.slice(0, 2 * rows, words);
    }
  }
  return made;
}

void DecodeGraphs::fill(const StepPlan& plan, Recorded& recorded) {
  const Index rows = recorded.rows.ids.numel();
  const Tensor host = tensor::empty_on_host(device_, recorded.numbers.shape(), DType::i64);
  auto* const ids = host.data<std::int64_t>();
  auto *const positions = ids + rows, *const chunked = positions + rows;
  auto* const table = chunked + 2 * rows;
  std::fill(ids, chunked, 0);
  std::fill_n(chunked, 4 * rows, -1);
  for (Index i = 0; i < static_cast<Index>(plan.sequences.size()); ++i) {
    const SequenceStep& sequence = plan.sequences[static_cast<std::size_t>(i)];
    const Index blocks = 2 * rows + i * most_blocks_;
    MPITRON_CHECK(static_cast<Index>(sequence.blocks.size()) <= most_blocks_,
                  sequence.blocks.size(), most_blocks_);
    ids[i] = sequence.tokens[0];
    const Index position = sequence.first_position;
    const Index from = chunk_ > 0 ? position / chunk_ * chunk_ : 0;
    positions[i] = table[2 * i] = position;
    table[2 * i + 1] = blocks;
    chunked[2 * i] = position - from;
    chunked[2 * i + 1] = 2 * rows + blocks + from / block_size_;
    std::ranges::copy(sequence.blocks, table + blocks);
  }
  tensor::copy_bytes(device_, host, recorded.numbers);
}

Tensor DecodeGraphs::run(const StepPlan& plan, const Pass& pass) {
  Recorded& recorded = graph_of(plan);
  fill(plan, recorded);
  if (recorded.graph == nullptr) {
    // A step runs before it is recorded: whatever a library plans for its shapes has been planned.
    if (!std::exchange(recorded.met, true)) {
      return pass(recorded.rows);
    }
    if constexpr (device::kHasCuda) {
      recorded.graph = device::record(device_, [&] { recorded.logits = pass(recorded.rows); });
      ++recordings_;
    }
  }
  recorded.graph->launch();
  return recorded.logits;
}

}  // namespace mpitron::inference
