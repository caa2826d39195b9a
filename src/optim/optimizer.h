#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "comm/groups/parallel_groups.h"
#include "config/optimizer_config.h"
#include "optim/host_share.h"
#include "optim/matrices/matrix_exchange.h"
#include "optim/matrices/matrix_state.h"
#include "optim/parameter_group.h"
#include "optim/parameter_scheduler.h"
#include "optim/stored_state.h"
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

/// Facts that a step is told.
struct StepInputs {
  // The main gradients that this rank counts in the norm, flat; padding is zero.
  std::span<const tensor::ConstTensorView> gradients;
  float gradient_scale = 1;     // 1 / loss scale, and 1 / tokens with per-token loss
  bool check_overflow = false;  // a step with an infinity or NaN is skipped (LossScaler)
  std::optional<double> grad_norm = std::nullopt;  // of these gradients; absent: computed
  // Hears of each tensor, by its index, when it is updated; in order.
  std::function<void(std::size_t index)> updated = {};
};

/// Over whom sums are added up, and who holds parts of the same matrices; null: nobody else.
struct OptimizerRanks {
  comm::GroupHandle all = nullptr, of_matrices = nullptr;
};

struct StepResult {
  bool skipped = false;
  double grad_norm = 0;  // before clipping, of the unscaled gradients
};

/// AdamW, SGD, Lion, Muon (matrices/muon.h, matrices/adaptive_muon.h) or SOAP (matrices/soap.h)
/// with clipping by the global norm; the last three take matrices, Adam (or Lion beside Muon) all
/// else. A matrix whose pieces several ranks update comes together for Muon and SOAP, so that its
/// update is the same in every layout. Parameters in half precision have fp32 masters here; fp32
/// parameters are their own masters. Masters and Adam's states may be stored in narrower types
/// (`config::StateTypes`), and some of them in the host's memory, where the processor updates them
/// (`config::OffloadConfig`).
///
/// Sums over all parameters (norms, counts of zeros) are exact sums of sums over 64 elements, added
/// over ranks as integers: their bits depend neither on who holds what nor on the order.
class Optimizer {
 public:
  Optimizer(device::Device& device, const config::OptimizerConfig& config,
            std::vector<TrainedTensor> tensors, const OptimizerRanks& ranks = {});

  /// L2 norm of the unscaled gradients over all ranks, before clipping.
  double gradient_norm(const StepInputs& inputs);
  /// Clips, updates and writes the model's parameters. Rates come from the scheduler, one set for
  /// each group.
  StepResult step(const StepInputs& inputs, const ParameterScheduler& scheduler);

  /// A held tensor keeps its value and its state in the next step.
  void hold(std::size_t index, bool held) { slots_[index].held = held; }

  /// L2 norm of all (master) parameters, and how many gradient elements are exactly zero.
  double parameters_norm();
  Index zero_gradients();

  /// Shows what a checkpoint keeps: "optimizer/exp_avg/NAME", "optimizer/exp_avg_sq/NAME" or
  /// "optimizer/momentum_buffer/NAME"; "optimizer/fp32_param/NAME" of parameters in half precision;
  /// what rules keep of whole matrices (matrices/matrix_state.h); the number of updates. What is
  /// stored in other types than fp32, bf16 and fp64 is shown as fp32: a copy in the host's memory,
  /// there until the next step or visit.
  void visit_state(tensor::StateVisitor& visitor);
  /// Shows, of this, the masters only.
  void visit_masters(tensor::StateVisitor& visitor);
  /// After a visit that changed them, and the model's parameters. Masters that were not visited
  /// (`masters_too` false) become what the parameters are.
  void state_loaded(bool masters_too);

  /// The fp32 master of a parameter: the parameter itself when training in fp32; a copy where it is
  /// stored in another type or place.
  tensor::Tensor master(std::size_t index);
  /// Multiplies rows of `width` elements of a shard, of which this rank updates a piece, and those
  /// of its fp32 master, by a factor each.
  void scale_rows(std::size_t index, std::span<const float> factors, Index width);
  std::size_t size() const { return slots_.size(); }
  /// Count the state's bytes in the device's memory, and in the host's where that is another.
  Index device_bytes() const { return state_bytes(device_); }
  Index host_bytes() const { return host_ ? state_bytes(host_->home()) : 0; }

 private:
  using Rule = config::OptimizerKind;
  struct Slot {
    TrainedTensor trained;
    Rule rule = Rule::adam;
    ParameterGroupKey group;
    LrBounds bounds;
    bool held = false;
    device::Device* home = nullptr;  // in whose memory the state lies; its kernels update it
    tensor::Tensor value;            // the model's, flat, or the home's copy of it
    StoredState master;
    StoredState first;   // exp_avg, or the momentum buffer; not of SOAP
    StoredState second;  // Adam's exp_avg_sq
  };
  /// A state as a checkpoint has it.
  struct Shown {
    const StoredState* state;
    device::Device* home;
    tensor::Tensor numbers;  // fp32, in the host's memory
  };
  static bool has_master(const Slot& slot) { return slot.trained.value.dtype() != DType::f32; }
  bool on_device(const Slot& slot) const { return slot.home == &device_; }
  Slot make_slot(TrainedTensor trained, device::Device& home);
  void adopt_value(const Slot& slot);
  void store_master(const Slot& slot, const tensor::Tensor& master);
  Index state_bytes(const device::Device& home) const;
  tensor::Tensor shown(const StoredState& state, device::Device& home);
  void show_masters(tensor::StateVisitor& visitor);
  void show(const Slot& slot, const char* kind, const StoredState& state,
            tensor::StateVisitor& visitor);
  void write_shown();
  void add_squares(const tensor::ConstTensorView& x);
  void clear_sum();
  /// Returns the sum over all ranks of what was added since the last call.
  double take_sum();
  /// A slot and the gradient, in its home's memory, that it is updated by.
  struct Due {
    const Slot* slot;
    tensor::Tensor gradient;
  };
  /// update(home, due) of all slots, those of one home together; `updated` hears of each.
  using Update = std::function<void(device::Device& home, std::span<const Due> due)>;
  Due due_on_device(const Slot& slot) const;
  std::size_t updated_together(std::size_t first) const;
  void update_in_order(const Update& update, const std::function<void(std::size_t)>& updated);
  void update_overlapped(const Update& update, const std::function<void(std::size_t)>& updated);
  /// Facts that a rule is told of a step.
  struct RuleInputs {
    device::Device& home;
    const ParameterScheduler& scheduler;
    float gradient_scale;
  };
  void update_adam(const RuleInputs& inputs, std::span<const Due> due);
  void update_sgd(const RuleInputs& inputs, std::span<const Due> due);
  void update_lion(const RuleInputs& inputs, std::span<const Due> due);
  bool cut_apart(const Slot& slot) const;
  std::vector<MatrixPiece> matrix_pieces();
  void make_matrix_states();
  void show_matrix_states(tensor::StateVisitor& visitor);
  tensor::Tensor part_of(const Slot& slot, float gradient_scale);
  tensor::Tensor direction_of(std::size_t piece, const tensor::Tensor& matrix);
  void update_matrices(const RuleInputs& inputs);
  void subtract(const RuleInputs& inputs, const Slot& slot, const tensor::Tensor& direction);

  device::Device& device_;
  config::OptimizerConfig config_;
  std::optional<HostShare> host_;
  std::vector<Slot> slots_;
  std::vector<Shown> shown_;  // by the last visit
  comm::GroupHandle ranks_;
  std::vector<std::size_t> matrices_;  // slots that Muon or SOAP updates
  std::optional<MatrixExchange> exchange_;
  std::map<std::size_t, MatrixState> matrix_states_;  // by pieces that this rank works on
  tensor::Tensor sum_;                                // an exact sum's bins
  Index updates_ = 0;                                 // Adam's t: skipped steps do not count
};

}  // namespace mpitron::optim
