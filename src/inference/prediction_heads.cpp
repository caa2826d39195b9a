#include "inference/prediction_heads.h"

#include <algorithm>

#include "inference/step_tables.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"

// Drafts by the model's own depths of multi-token prediction. Each depth is a layer with keys and
// values of its own, which trail the main model's by as many positions as the depth predicts ahead.

namespace mpitron::inference {

using autograd::Var;
using tensor::Tensor;

namespace {

/// Rows of each slot and depth that are kept: more than drafts can take back.
constexpr Index kKeptRows = 128;
/// Rows of a sequence that are taken together, so that those before them are still kept.
constexpr std::size_t kRowsAtOnce = 64;

}  // namespace

PredictionHeads::PredictionHeads(device::Device& device, const models::Model& model,
                                 const Caches& caches, Index slots)
    : device_(device), model_(model), caches_(caches), depths_(model.prediction_depths()) {
  for (Index depth = 0; depth < depths_; ++depth) {
    kept_.push_back(Tensor::empty(device, {slots * kKeptRows, 1, model.config().hidden_size},
                                  model.config().params_dtype));
  }
  progress_.assign(static_cast<std::size_t>(slots),
                   {std::vector<Index>(static_cast<std::size_t>(depths_), 0)});
}

Tensor PredictionHeads::kept_row(Index depth, Index slot, Index position) const {
  const Index row = slot * kKeptRows + position % kKeptRows;
  return kept_[static_cast<std::size_t>(depth)].slice(0, row, row + 1);
}

/// What a depth made of rows is what the next one starts from.
void PredictionHeads::keep(Index depth, const Rows& rows, const Tensor& made) {
  if (depth >= depths_) {
    return;
  }
  for (std::size_t i = 0; i < rows.pieces.size(); ++i) {
    const kernels::CachedPiece& piece = rows.pieces[i];
    for (Index j = std::max<Index>(0, piece.rows - kKeptRows); j < piece.rows; ++j) {
      const Index row = piece.first_row + j;
      device::launch(
          device_.stream(),
          kernels::Cast{.x = made.slice(0, row, row + 1).view(),
                        .y = kept_row(depth, rows.slots[i], piece.first_position + j).view()});
    }
  }
}

/// What was computed of tokens that are others now does not count. In front of what a slot has seen
/// lies a prefix that others have computed.
void PredictionHeads::begin(const SequenceStep& sequence) {
  std::vector<Index>& filled = progress_[static_cast<std::size_t>(sequence.slot)].filled;
  for (Index depth = 1; depth <= depths_; ++depth) {
    Index& of_depth = filled[static_cast<std::size_t>(depth - 1)];
    const Index right = std::max<Index>(sequence.first_position - depth, 0);
    of_depth = right - of_depth < kKeptRows / 2 ? std::min(of_depth, right) : right;
  }
}

/// The positions of which depth `depth` can compute keys now; `known`: tokens from the sequence's
/// first of this step on.
void PredictionHeads::add(Rows& rows, Index depth, const SequenceStep& sequence,
                          std::span<const TokenId> known) {
  Index& filled = progress_[static_cast<std::size_t>(sequence.slot)]
                      .filled[static_cast<std::size_t>(depth - 1)];
  const Index end = sequence.first_position + static_cast<Index>(known.size()) - depth;
  filled = std::max(filled, sequence.first_position - depth);
  if (end <= filled) {
    return;
  }
  rows.pieces.push_back({.first_row = static_cast<Index>(rows.ids.size()),
                         .rows = end - filled,
                         .first_position = filled,
                         .blocks = sequence.blocks});
  rows.slots.push_back(sequence.slot);
  for (; filled < end; ++filled) {
    rows.ids.push_back(known[static_cast<std::size_t>(filled + depth - sequence.first_position)]);
    rows.positions.push_back(filled);
  }
}

/// What the depth before knows of the rows.
void PredictionHeads::gather(Rows& rows, Index depth) {
  const auto count = static_cast<Index>(rows.ids.size());
  rows.inputs =
      Tensor::empty(device_, {count, 1, model_.config().hidden_size}, model_.config().params_dtype);
  for (std::size_t i = 0; i < rows.pieces.size(); ++i) {
    for (Index j = 0; j < rows.pieces[i].rows; ++j) {
      const Index row = rows.pieces[i].first_row + j;
      device::launch(
          device_.stream(),
          kernels::Cast{
              .x = kept_row(depth - 1, rows.slots[i], rows.pieces[i].first_position + j).view(),
              .y = rows.inputs.slice(0, row, row + 1).view()});
    }
  }
}

Tensor PredictionHeads::run(const Rows& rows, Index depth) {
  const auto count = static_cast<Index>(rows.ids.size());
  const autograd::CachedPass pass{.cache = caches_.keys,
                                  .states = caches_.states,
                                  .weights = caches_.weights,
                                  .pieces = rows.pieces,
                                  .positions = on_device(device_, rows.positions),
                                  .table = piece_table(device_, rows.pieces, count, true, table_)};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate, .cached = &pass};
  const models::Batch batch{{models::kTokens, on_device(device_, rows.ids).reshape({count, 1})}};
  return model_.predict(context, depth - 1, autograd::constant(rows.inputs), batch).value;
}

/// Returns the likeliest token of a depth's output; drafts are greedy whatever the request's rule,
/// since only the main model's draw counts.
TokenId PredictionHeads::likeliest(const Tensor& row) {
  const autograd::CachedPass pass{
      .cache = caches_.keys, .states = caches_.states, .weights = caches_.weights, .pieces = {}};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate, .cached = &pass};
  const Tensor logits =
      tensor::to_host(device_, model_.output(context, autograd::constant(row)).value);
  return visit_dtype(logits.dtype(), [&]<class T>() {
    const T* first = logits.data<T>();
    const T* best = std::max_element(first, first + logits.numel(), [](T a, T b) {
      return static_cast<float>(a) < static_cast<float>(b);
    });
    return static_cast<TokenId>(best - first);
  });
}

/// Drafts with one depth after the other, each on the token that the depth before has drafted.
void PredictionHeads::draft(const StepPlan& plan, TokenIds& drafts) {
  TokenIds known;
  for (const SequenceStep& sequence : plan.sequences) {
    begin(sequence);
    known.assign(sequence.tokens.begin(), sequence.tokens.end());
    for (Index depth = 1; depth <= sequence.own_drafts; ++depth) {
      Rows rows;
      add(rows, depth, sequence, known);
      gather(rows, depth);
      const Tensor made = run(rows, depth);
      keep(depth, rows, made);
      const Index last = made.shape()[0];
      known.push_back(likeliest(made.slice(0, last - 1, last)));
      drafts.push_back(known.back());
    }
  }
}

/// Feeds the depths what the model has computed in a step, drafts included, so that their caches
/// follow it.
void PredictionHeads::learn(const StepPlan& plan, std::span<const TokenId> drafts,
                            const Tensor& hidden) {
  std::vector<TokenIds> known;
  std::size_t longest = 0;
  for (const SequenceStep& sequence : plan.sequences) {
    const auto own = drafts.first(static_cast<std::size_t>(sequence.own_drafts));
    drafts = drafts.subspan(own.size());
    TokenIds& tokens = known.emplace_back(sequence.tokens.begin(), sequence.tokens.end());
    tokens.insert(tokens.end(), own.begin(), own.end());
    longest = std::max(longest, tokens.size());
  }
  for (std::size_t begin = 0; begin < longest; begin += kRowsAtOnce) {
    learn_rows(plan, known, {begin, begin + kRowsAtOnce}, hidden);
  }
}

/// Of every sequence the rows [begin, end) of the step, as far as it has them.
void PredictionHeads::learn_rows(const StepPlan& plan, std::span<const TokenIds> known,
                                 std::pair<std::size_t, std::size_t> range, const Tensor& hidden) {
  Rows main;
  std::size_t first_row = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::size_t begin = std::min(range.first, known[i].size());
    const std::size_t end = std::min(range.second, known[i].size());
    main.pieces.push_back(
        {.first_row = static_cast<Index>(first_row + begin),
         .rows = static_cast<Index>(end - begin),
         .first_position = plan.sequences[i].first_position + static_cast<Index>(begin),
         .blocks = plan.sequences[i].blocks});
    main.slots.push_back(plan.sequences[i].slot);
    first_row += known[i].size();
  }
  keep(0, main, hidden);
  for (Index depth = 1; depth <= depths_; ++depth) {
    Rows rows;
    for (std::size_t i = 0; i < known.size(); ++i) {
      add(rows, depth, plan.sequences[i],
          std::span(known[i]).first(std::min(range.second, known[i].size())));
    }
    if (!rows.ids.empty()) {
      gather(rows, depth);
      keep(depth, rows, run(rows, depth));
    }
  }
}

}  // namespace mpitron::inference
