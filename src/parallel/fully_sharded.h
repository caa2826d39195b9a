#pragma once
#include <map>

#include "parallel/data_parallel.h"

namespace mpitron::parallel {

/// Gradients and optimizer state, and with `Sharding::parameters` the parameters too, live in equal
/// parts on the ranks of the shard group (ZeRO-2, ZeRO-3). A unit is one layer; what lies outside
/// the layers stays whole during a step and is reduced at its end: unit 0, and a unit of its own
/// for what pipeline stages share, so that they hold the same parts of it. Layers without
/// parameters here (without experts) are passed over. Microbatches and chunks of a pipeline may
/// take turns in any order.
///
/// A unit's values are gathered when its pass begins, those of the next unit (or units, see
/// DataParallelOptions) while it runs; they are dropped when another unit begins. A unit's
/// gradients have memory during its backward pass only and are reduced behind it, while the next
/// unit runs; microbatches add up in the parts. So two units are whole at once, whatever the depth.
///
/// Where the replicas share (hybrid sharding of everything), each updates its part of what its rank
/// of the shard group holds: optimizer state exists once among all ranks.
class FullySharded final : public DataParallel {
 public:
  FullySharded(device::Device& device, const std::vector<Parameter*>& parameters,
               const DataParallelOptions& options, ReplicaGroups groups);

  void begin_step() override;
  void begin_pass(autograd::Pass pass) override;
  void finish_step() override;
  void gather_parameters() override;
  void make_whole() override;

  void before_use(Parameter& parameter) override;
  void gradient_released(Parameter&, bool) override {}
  void enter(Index unit, autograd::Pass pass) override;
  void leave(Index unit, autograd::Pass pass) override;

 private:
  struct Unit {
    bool outside_layers = false;
    std::vector<Parameter*> parameters;
    std::vector<Shape> shapes;
    BucketLayout layout;
    DType dtype = DType::f32;
    tensor::Tensor own_values;  // [n / shards]
    tensor::Tensor values;      // [n], while gathered
    tensor::Tensor buffer;      // what a layer's values lie in where buffers are kept
    comm::Work gathering;
    bool attached = false;         // the parameters see `values`
    tensor::Tensor own_gradients;  // [n / shards], the sum over microbatches
    bool has_gradients = false;    // in this step
    tensor::Tensor gradients;      // [n], in the unit's backward pass and until it is reduced
    comm::Work reduction;
    bool reducing = false;
  };

  bool keeps_values() const { return options_.sharding != Sharding::parameters; }
  tensor::Tensor own_part(const tensor::Tensor& whole) const;
  /// Uninitialised memory for what travels in the groups, which know of it.
  tensor::Tensor buffer(Index numel, DType dtype) const;
  /// Returns this rank's part of its own part that it updates.
  tensor::Tensor updated_part(const tensor::Tensor& own) const;
  void make_unit(Unit& unit);
  void add_piece(Parameter& parameter);
  void start_gather(Unit& unit);
  void attach(Unit& unit);
  void release(Unit& unit);
  void start_gradients(Unit& unit);
  void start_reduction(Unit& unit);
  void finish_reduction(Unit& unit);
  /// The nearest layer behind (direction 1) or before this one that has a unit; 0: there is none.
  Index neighbour(Index number, Index direction) const;
  Index last_ahead(Index number, Index direction) const;
  tensor::Tensor take_buffer(DType dtype);

  device::Device& device_;
  const DataParallelOptions options_;
  const ReplicaGroups groups_;
  std::map<Index, Unit> units_;  // by layer number; outside the layers: by none, 0 or less
  std::map<const Parameter*, Unit*> unit_of_;
  Index largest_layer_ = 0;                                     // elements
  std::map<DType, std::vector<tensor::Tensor>> spare_buffers_;  // [largest_layer_] each
  bool in_step_ = false;
  autograd::Pass pass_ = autograd::Pass::forward;
};

}  // namespace mpitron::parallel
