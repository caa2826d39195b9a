#pragma once
#include <functional>
#include <map>

#include "inference/engine_interface.h"
#include "kernels/attention/cached_attention.h"
#include "tensor/tensor.h"

namespace mpitron::inference {

/// Steps in which every sequence goes on by one token, as graphs of a GPU: one for each number of
/// rows and length that is met. The first step of a kind runs as it is, the second is recorded;
/// from then on a step is one copy of its numbers and one launch.
class DecodeGraphs {
 public:
  /// What a recorded pass reads: its numbers are set before each launch. Rows that only fill up
  /// have no place in the table.
  struct Rows {
    std::vector<kernels::CachedPiece> pieces;   // as long as any that the graph serves
    std::vector<kernels::CachedPiece> chunked;  // the same, of layers that attend within chunks
    tensor::Tensor ids, positions;              // [rows], int64
    tensor::Tensor table;                       // kernels::append_piece_table
    tensor::Tensor chunked_table;               // of the rows' own chunks; absent without any
  };
  /// Queues the pass; returns the logits of all rows, fp32.
  using Pass = std::function<tensor::Tensor(const Rows&)>;

  /// `shape`: completed by the model. `chunk`: positions of a chunk that layers attend within,
  /// which blocks fill; 0: none do.
  DecodeGraphs(device::Device& device, const EngineShape& shape, Index chunk);

  /// Returns whether all sequences of the plan go on by the token that was drawn last.
  static bool serves(const StepPlan& plan);
  /// Returns logits [at least the plan's rows, columns] on the device; valid until the next call.
  tensor::Tensor run(const StepPlan& plan, const Pass& pass);
  /// How many kinds of steps were recorded.
  Index recordings() const { return recordings_; }

 private:
  struct Recorded {
    Rows rows;
    tensor::Tensor numbers;  // all of `rows`, one behind the other
    tensor::Tensor logits;
    bool met = false;
    std::unique_ptr<device::Graph> graph;
  };
  Recorded& graph_of(const StepPlan& plan);
  void fill(const StepPlan& plan, Recorded& recorded);

  device::Device& device_;
  Index block_size_, most_blocks_, chunk_;
  Index recordings_ = 0;
  std::map<std::pair<Index, Index>, Recorded> graphs_;  // by rows and chunks of positions
};

}  // namespace mpitron::inference
