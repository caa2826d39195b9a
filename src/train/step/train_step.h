#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "config/run_config.h"
#include "optim/loss_scaler.h"
#include "optim/optimizer.h"
#include "optim/parameter_scheduler.h"
#include "parallel/data_parallel.h"
#include "train/model/fp8_state.h"
#include "train/step/moving_averages.h"
#include "train/step/qk_clip.h"
#include "train/step/stage_runner.h"
#include "train/step/tracked_losses.h"

namespace mpitron::train {

/// Results of one iteration.
struct StepReport {
  // Masked losses of the global batch's tokens, or the means of its microbatches (where objectives
  // say so, and with --sft), and how many these are. All ranks know them.
  std::string loss_name = "lm loss";
  double loss_sum = 0;
  double loss_count = 0;
  double tokens = 0;         // that the mask counts
  double grad_norm = 0;      // before clipping
  double learning_rate = 0;  // used by this update
  double weight_decay = 0;   // likewise
  double loss_scale = 1;     // used by this step
  bool skipped = false;      // an overflow under a loss scale: the update was not made
  std::vector<NamedLoss> other_losses = {};  // objectives beside the first
  LayerReport layers = {};
  std::optional<double> max_attention_logit = std::nullopt;  // before the update
  double loss() const { return loss_count > 0 ? loss_sum / loss_count : 0; }
  /// Returns the loss that is trained, and the others.
  std::vector<NamedLoss> all_losses() const {
    std::vector<NamedLoss> losses = {{loss_name, loss()}};
    losses.insert(losses.end(), other_losses.begin(), other_losses.end());
    return losses;
  }
};

/// Gradients, one operation for all, that a group sums beside the replicas: those of which each
/// tensor rank has a part, and the tied table's, of which first and last stage each know one use.
struct GradientCompletion {
  comm::Group* group = nullptr;
  std::vector<tensor::Tensor> gradients = {};  // what of them is this rank's
};

/// Everything that one optimizer step needs: forward and backward over the microbatches, scaling,
/// clipping, update, schedules. Owns the gradients and the optimizer's state.
class TrainStep {
 public:
  /// `timers`: what the parts of a step are timed with.
  TrainStep(device::Device& device, TrainedModel& model, const config::RunConfig& config,
            Timers& timers);

  /// One iteration (1-based) of `num_microbatches` microbatches, `batch_size` samples in all.
  StepReport run(Index iteration, Index num_microbatches, Index batch_size,
                 const NextMicrobatch& next);
  /// The two halves of `run`. The first changes nothing that a checkpoint keeps: called again with
  /// the same microbatches it gives the same bits.
  StepReport compute_gradients(Index iteration, Index num_microbatches, const NextMicrobatch& next);
  void update(StepReport& report, Index batch_size);
  /// Other kernels or algorithms run from now on: what was recorded is out of date.
  void kernels_changed() { runner_.kernels_changed(); }
  /// Called by `update` before anything that is saved changes.
  void before_update(std::function<void()> call) { before_update_ = std::move(call); }
  /// Sum of the masked losses and of the mask, without dropout and without gradients.
  StepReport evaluate(Index num_microbatches, const NextMicrobatch& next);

  /// A forward pass over one microbatch without gradients that ends in its logits.
  void logits(const HostMicrobatch& microbatch, const VisitLogits& visit,
              autograd::Mode mode = autograd::Mode::evaluate);
  /// Runs such a pass whose objectives `visit` gets, on the ranks with the output layer.
  void objectives(const HostMicrobatch& microbatch, const VisitObjectives& visit);

  /// Shows what a checkpoint keeps of the parameters that this rank updates: "model/NAME"; and
  /// histories of 8-bit scales, which are no part of the model: "fp8/NAME". With low-rank updates
  /// these alone: the weights under them belong to another checkpoint.
  void visit_model(tensor::StateVisitor& visitor) const;
  /// Shows the part of that which is not trained.
  void visit_kept(tensor::StateVisitor& visitor) const;
  /// Shows what else the next step depends on: optimizer, loss scale, schedules. Error(usage) where
  /// schedules of a checkpoint and of the options differ.
  void visit_optimizer(tensor::StateVisitor& visitor);
  /// Shows, of this, the fp32 masters of the parameters only.
  void visit_masters(tensor::StateVisitor& visitor) {
    optimizer_.visit_masters(visitor);
    averages_.visit_masters(visitor);
  }
  /// After a visit has changed the parameters; `masters_too`: their fp32 masters as well.
  void values_loaded(bool masters_too);

  const optim::ParameterScheduler& scheduler() const { return scheduler_; }
  const optim::LossScaler& loss_scaler() const { return scaler_; }
  optim::Optimizer& optimizer() { return optimizer_; }
  /// Throws where replicas hold different weights (parallel/weight_hash.h).
  void check_replicas();
  parallel::DataParallel& replicas() { return *replicas_; }
  /// Lists what the replicas' sum leaves open on this rank, in the reference's order.
  std::vector<GradientCompletion> completions() const;
  const Fp8Weights& fp8_weights() const { return fp8_weights_; }
  device::Device& device() const { return device_; }

 private:
  /// Queues the passes of a step or an evaluation; each objective's sums on this rank.
  std::vector<LossSums> play(const BatchPass& pass, const NextMicrobatch& next);
  /// Adds this rank's sums up over all ranks.
  void report_loss(const std::vector<LossSums>& sums, StepReport& report) const;
  void visit_buffers(tensor::StateVisitor& visitor) const;
  void begin_models(Index iteration);
  void end_models(Index iteration);
  /// Returns what the optimizer is told of a step with these gradients.
  optim::StepInputs step_inputs(const StepReport& report,
                                std::span<const tensor::ConstTensorView> gradients);
  /// Updates the biases of routers that are balanced by them, from the tokens that their experts
  /// got.
  void update_expert_biases(const LayerReport& layers);

  device::Device& device_;
  TrainedModel& model_;
  config::RunConfig config_;
  Timers& timers_;
  MovingAverages averages_;
  std::unique_ptr<parallel::DataParallel> replicas_;
  optim::Optimizer optimizer_;
  optim::ParameterScheduler scheduler_;
  optim::LossScaler scaler_;
  Fp8Histories fp8_histories_;
  Fp8Weights fp8_weights_;
  StageRunner runner_;
  TrackedLosses tracked_;
  std::optional<QkClip> qk_clip_;
  std::function<void()> before_update_ = [] {};
  Index iteration_ = 0;  // whose gradients were computed last
};

}  // namespace mpitron::train
