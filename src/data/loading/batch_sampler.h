#pragma once
#include <cstdint>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Orders in which samples are taken.
enum class SamplerKind {
  single,
  cyclic,  ///< --dataloader-type
  epochs,  ///< of tasks
};

/// Returns the samples of an epoch in a random order (torch's randperm of this seed), filled up
/// from its start so that each replica gets as many: replica r takes entries r, r + replicas, ...
/// `whole`: what does not go round is left out instead.
std::vector<std::int64_t> epoch_order(Index samples, Index replicas, Index seed, bool whole);

struct BatchSamplerRequest {
  SamplerKind kind = SamplerKind::single;
  Index total_samples = 0;
  Index consumed_samples = 0;  // by all ranks together: the whole position
  Index micro_batch_size = 1;
  Index data_parallel_rank = 0;
  Index data_parallel_size = 1;
  bool drop_last = true;      // false gives shorter, single also empty, last batches
  bool data_sharding = true;  // cyclic: each rank shuffles samples of its own
  Index padded_samples = 0;   // single, not dropping: empty batches follow up to this position
  Index seed = 0;             // epochs: of the first one; later ones count on
  Index batches_of_step = 1;  // epochs: micro-batches of a step, which does not go beyond an epoch

  /// Returns the micro-batches of each replica and epoch (epochs only).
  Index batches_of_epoch() const;

  BatchSamplerRequest with_total(Index total) const {
    BatchSamplerRequest result = *this;
    result.total_samples = total;
    return result;
  }
};

/// Sample numbers of this rank's micro-batches. Single: in order, once. Cyclic: a new permutation
/// every epoch (torch's randperm, seeded with the epoch), without end. Epochs: `epoch_order` of
/// each epoch, without end. A pure function of the request: restarting with the consumed samples
/// continues the sequence.
class BatchSampler {
 public:
  /// Error(usage) for a data set that is empty, used up, or smaller than one step.
  explicit BatchSampler(const BatchSamplerRequest& request);

  /// Replaces `samples` by the next batch, at most micro_batch_size long; false after the last.
  bool next(std::vector<Index>& samples);
  Index consumed_samples() const { return consumed_; }
  /// Epoch of the last batch, from 0; in order there is only one.
  Index epoch() const { return epoch_ < 0 ? 0 : epoch_; }

 private:
  bool next_single(std::vector<Index>& samples);
  void next_cyclic(std::vector<Index>& samples);
  void next_of_epoch(std::vector<Index>& samples);
  void shuffle_epoch(Index epoch);

  BatchSamplerRequest request_;
  Index step_;    // samples of all ranks per micro-batch
  Index active_;  // cyclic: samples used per epoch
  Index consumed_;
  Index epoch_ = -1;
  std::vector<std::int64_t> order_;
};

}  // namespace mpitron::data
