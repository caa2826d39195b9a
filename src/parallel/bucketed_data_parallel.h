#pragma once
#include <map>

#include "parallel/data_parallel.h"

namespace mpitron::parallel {

/// Replicas with whole parameters and gradients in buckets (DDP); with `Sharding::optimizer` each
/// rank of the shard group reduces and updates its part of every bucket only (ZeRO-1).
///
/// With overlap a bucket's reduction starts in the backward pass as soon as its gradients are
/// complete. Reductions start in the order of the buckets on every rank, whatever finishes first;
/// gathers of updated values in the opposite order.
class BucketedDataParallel final : public DataParallel {
 public:
  BucketedDataParallel(device::Device& device, const std::vector<Parameter*>& parameters,
                       const DataParallelOptions& options, ReplicaGroups groups);

  void begin_step() override;
  void begin_pass(autograd::Pass) override {}
  void finish_step() override;
  void piece_updated(std::size_t piece) override;
  void gather_parameters() override;
  void make_whole() override;

  void before_use(Parameter& parameter) override;
  void gradient_released(Parameter& parameter, bool last_microbatch) override;
  void enter(Index, autograd::Pass) override {}
  void leave(Index, autograd::Pass) override {}

 private:
  struct Bucket {
    std::vector<Parameter*> parameters;
    GradientBuffer* buffer = nullptr;
    Index buffer_number = 0;
    tensor::Tensor gradients, values;          // [n]; values only where they are shared out
    tensor::Tensor own_gradients, own_values;  // [n / shards]
    std::size_t unfinished = 0;                // parameters, in this step
    std::size_t pieces = 0, updated = 0;       // of this rank; in this step
    comm::Work reduction, gathering;
  };

  void add_buckets(const std::vector<Parameter*>& parameters, const std::vector<LayoutItem>& items);
  void add_pieces(const std::vector<Parameter*>& parameters);
  bool shards() const { return groups_.shard->size() > 1; }
  void start_reduction(Bucket& bucket);
  /// Starts the next gather. Buckets come in the order of their use (they lie backwards), on all
  /// ranks alike.
  void start_next_gather();

  device::Device& device_;
  const DataParallelOptions options_;
  const ReplicaGroups groups_;
  std::vector<std::unique_ptr<GradientBuffer>> buffers_;  // one for each type of parameters
  std::vector<Bucket> buckets_;
  std::map<const Parameter*, std::size_t> bucket_of_;
  std::size_t started_ = 0;   // reductions of this step
  std::size_t gathered_ = 0;  // gathers that have begun behind this step
  bool gathering_ = false;    // some bucket's values are still coming
};

}  // namespace mpitron::parallel
