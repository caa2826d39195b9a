#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "comm/parallel_groups.h"
#include "config/optimizer_config.h"
#include "optim/parameter_group.h"
#include "optim/parameter_scheduler.h"
#include "tensor/state.h"

namespace mpitron::optim {

/// One trained tensor, or the piece of it that this rank updates, as an update rule sees it: memory
/// and the traits that decide its group.
struct TrainedTensor {
  ParameterTraits traits;
  tensor::Tensor value;      // model's type
  tensor::Tensor main_grad;  // same number of elements
  bool counted = true;       // in sums over all parameters: of what several ranks hold, one counts
  tensor::ShardedTensor place = {};  // of which global parameter this is a part
};

/// What a step is told.
struct StepInputs {
  // The main gradients that this rank counts in the norm, flat; padding is zero.
  std::span<const tensor::ConstTensorView> gradients;
  float gradient_scale = 1;     // 1 / loss scale, and 1 / tokens with per-token loss
  bool check_overflow = false;  // fp16: a step with an infinity or NaN is skipped
  std::optional<double> grad_norm = std::nullopt;  // of these gradients; absent: computed
  // Hears of each tensor, by its index, when it is updated; in order.
  std::function<void(std::size_t index)> updated = {};
};

struct StepResult {
  bool skipped = false;
  double grad_norm = 0;  // before clipping, of the unscaled gradients
};

/// AdamW or SGD with clipping by the global norm. Parameters in half precision have fp32 masters
/// here; fp32 parameters are their own masters.
///
/// Sums over all parameters (norms, counts of zeros) are exact sums of sums over 64 elements, added
/// over ranks as integers: their bits depend neither on who holds what nor on the order.
class Optimizer {
 public:
  /// `ranks`: all that hold parts of the model, over which sums are added up; null: nobody else.
  Optimizer(device::Device& device, const config::OptimizerConfig& config,
            std::vector<TrainedTensor> tensors, comm::GroupHandle ranks = nullptr);

  /// L2 norm of the unscaled gradients over all ranks, before clipping.
  double gradient_norm(const StepInputs& inputs);
  /// Clips, updates and writes the model's parameters. Rates come from the scheduler, one set for
  /// each group.
  StepResult step(const StepInputs& inputs, const ParameterScheduler& scheduler);

  /// L2 norm of all (master) parameters, and how many gradient elements are exactly zero.
  double parameters_norm();
  Index zero_gradients();

  /// What a checkpoint keeps: "optimizer/exp_avg/NAME", "optimizer/exp_avg_sq/NAME" or
  /// "optimizer/momentum_buffer/NAME"; "optimizer/fp32_param/NAME" of parameters in half precision;
  /// the number of updates.
  void visit_state(tensor::StateVisitor& visitor);
  /// Of this, the masters only.
  void visit_masters(tensor::StateVisitor& visitor) const;
  /// Masters become what the model's parameters are: after these were loaded without masters.
  void adopt_values();

  /// The fp32 master of a parameter: the parameter itself when training in fp32.
  const tensor::Tensor& master(std::size_t index) const { return slots_[index].master; }
  std::size_t size() const { return slots_.size(); }

 private:
  struct Slot {
    TrainedTensor trained;
    ParameterGroupKey group;
    LrBounds bounds;
    tensor::Tensor master;
    tensor::Tensor first;   // exp_avg, or the momentum buffer
    tensor::Tensor second;  // exp_avg_sq
  };
  static bool has_master(const Slot& slot) { return slot.trained.value.dtype() != DType::f32; }
  static void visit(const Slot& slot, const char* kind, const tensor::Tensor& value,
                    tensor::StateVisitor& visitor);
  void add_squares(const tensor::ConstTensorView& x);
  void clear_sum();
  /// What was added since the last call, over all ranks.
  double take_sum();
  void update(const Slot& slot, const ParameterScheduler::GroupRates& rates, float gradient_scale);
  void update_adam(const Slot& slot, const ParameterScheduler::GroupRates& rates,
                   float gradient_scale);
  void update_sgd(const Slot& slot, const ParameterScheduler::GroupRates& rates,
                  float gradient_scale);

  device::Device& device_;
  config::OptimizerConfig config_;
  std::vector<Slot> slots_;
  comm::GroupHandle ranks_;
  tensor::Tensor sum_;  // an exact sum's bins
  Index updates_ = 0;   // Adam's t: skipped steps do not count
};

}  // namespace mpitron::optim
