#pragma once
#include <functional>
#include <memory>
#include <span>

#include "autograd/parameter_keeper.h"
#include "comm/groups/parallel_groups.h"
#include "config/run_config.h"
#include "parallel/gradient_buffer.h"

namespace mpitron::parallel {

/// Groups that hold the same parameters: `shard` shares their pieces (a group of one: everything is
/// replicated), `replicas` holds the same pieces.
struct ReplicaGroups {
  comm::GroupHandle shard;
  comm::GroupHandle replicas;
  /// Whether this rank is the one, of those that hold the same pieces, which counts them.
  bool counts() const { return replicas->rank() == 0; }
  /// Tells both of memory that they will be given parts of (Group::expect).
  void expect(const tensor::Tensor& buffer) const {
    shard->expect(buffer);
    replicas->expect(buffer);
  }
};

/// State that replicas hold in parts (`config::ShardingStrategy`): nothing, optimizer state
/// (ZeRO-1), gradients too (ZeRO-2), parameters too (ZeRO-3).
enum class Sharding { none, optimizer, gradients, parameters };

struct DataParallelOptions {
  GradientPolicy gradients;
  Sharding sharding = Sharding::none;
  bool overlap_grad_reduce = false;
  bool overlap_param_gather = false;
  bool gather_in_update = false;     // a bucket as soon as it is updated
  std::optional<Index> bucket_size;  // elements; none: one bucket
  bool pad_for_bandwidth = false;
  bool replicas_share = false;  // what a rank of `shard` updates is shared out to the replicas
  // Fully sharded parameters: layers are gathered ahead until so many elements are whole (none: one
  // layer ahead), into memory that is kept for the next ones.
  std::optional<Index> gathered_elements;
  bool keep_gather_buffers = false;
};

/// The options' meaning. Buckets: --ddp-bucket-size, else the parameters over --ddp-num-buckets,
/// else max(40M, 1M * replicas) with overlap, else one. `numel`: this rank's parameters.
DataParallelOptions data_parallel_options(const config::RunConfig& config, Index numel);

/// Part of a parameter that this rank updates, flat.
struct ParameterPiece {
  Parameter* parameter = nullptr;
  Index begin = 0;           // element of the parameter (of this rank's tensor parallel shard)
  tensor::Tensor value;      // [n]
  tensor::Tensor main_grad;  // [n], complete after `finish_step`
  Index buffer = 0;          // gradients of one buffer have only zeros between neighbours
  bool counted = true;       // of the ranks that update the same, one counts it in sums
};

/// Keeps the parameters of one rank's part of the model, and their gradients, among the replicas.
/// A step: `begin_step`; passes with this as their context's keeper, the context telling the last
/// microbatch, `begin_pass` before each; `finish_step`; the update of `pieces`;
/// `gather_parameters`.
///
/// Numerical contract: a gradient is the sum over replicas in group order, in the gradients' type
/// (half types: in fp32, rounded once); whoever wants their mean divides the loss. Overlap and
/// bucket sizes change no bit.
class DataParallel : public autograd::ParameterKeeper {
 public:
  virtual void begin_step() = 0;
  /// The forward or backward pass of a microbatch begins, in any order of microbatches.
  virtual void begin_pass(autograd::Pass pass) = 0;
  /// All gradients are complete when this returns.
  virtual void finish_step() = 0;
  /// This piece is updated; told of each, in order.
  virtual void piece_updated(std::size_t) {}
  /// After the update: every rank gets what the others updated; with overlap when it is used.
  virtual void gather_parameters() = 0;
  /// Before anybody but a forward pass with this keeper reads values: all are whole and up to date.
  virtual void make_whole() = 0;

  /// Lists the pieces in order of creation.
  std::span<const ParameterPiece> pieces() const { return pieces_; }
  /// The counted pieces' gradients in few flat views, without those of parameters that `counts`
  /// denies. Padding between them is zero.
  std::vector<tensor::ConstTensorView> gradients(
      const std::function<bool(const Parameter&)>& counts) const;

 protected:
  std::vector<ParameterPiece> pieces_;
};

/// `parameters`: of this rank, all chunks; they have values already, which move.
std::unique_ptr<DataParallel> make_data_parallel(device::Device& device,
                                                 const std::vector<Parameter*>& parameters,
                                                 const DataParallelOptions& options,
                                                 const ReplicaGroups& groups);

}  // namespace mpitron::parallel
