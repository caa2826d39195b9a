#pragma once
#include "autograd/cached_pass.h"
#include "inference/engine_interface.h"
#include "models/base/model.h"

namespace mpitron::inference {

/// Drafts by a model's depths of multi-token prediction. Depth d (from 1) makes of what depth d - 1
/// knows of a position, and of the token d positions further, what stands d + 1 positions further;
/// its layer keeps keys and values for every position, which are computed as soon as that token is
/// known.
class PredictionHeads {
 public:
  struct Caches {
    autograd::KeyValueCache& keys;
    autograd::LayerStates& states;
    autograd::PackedWeights& weights;
  };
  PredictionHeads(device::Device& device, const models::Model& model, const Caches& caches,
                  Index slots);

  /// Before a step: appends the plan's own drafts, sequences in order: each is the likeliest token.
  void draft(const StepPlan& plan, TokenIds& drafts);
  /// After it: takes what the model made of a step's rows, [t, 1, h], drafts included.
  void learn(const StepPlan& plan, std::span<const TokenId> drafts, const tensor::Tensor& hidden);

 private:
  /// Rows of one pass of a depth.
  struct Rows {
    std::vector<kernels::CachedPiece> pieces;
    std::vector<std::int64_t> ids, positions;
    std::vector<Index> slots;  // of each piece
    tensor::Tensor inputs;     // [t, 1, h]
  };
  struct Progress {
    std::vector<Index> filled;  // by depth - 1: positions whose keys are right
  };
  tensor::Tensor kept_row(Index depth, Index slot, Index position) const;
  void keep(Index depth, const Rows& rows, const tensor::Tensor& made);
  void begin(const SequenceStep& sequence);
  void add(Rows& rows, Index depth, const SequenceStep& sequence, std::span<const TokenId> known);
  void gather(Rows& rows, Index depth);
  tensor::Tensor run(const Rows& rows, Index depth);
  void learn_rows(const StepPlan& plan, std::span<const TokenIds> known,
                  std::pair<std::size_t, std::size_t> range, const tensor::Tensor& hidden);
  TokenId likeliest(const tensor::Tensor& row);

  device::Device& device_;
  const models::Model& model_;
  Caches caches_;
  Index depths_;
  std::vector<tensor::Tensor> kept_;  // by depth: the last rows of each slot
  std::vector<Progress> progress_;    // by slot
  std::vector<std::int64_t> table_;
};

}  // namespace mpitron::inference
