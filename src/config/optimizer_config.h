#pragma once
#include <optional>
#include <vector>

#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The update rule. Muon, Lion and SOAP take matrices between the layers; Adam (or Lion, beside
/// Muon) takes all other parameters.
enum class OptimizerKind { adam, sgd, muon, lion, soap };
/// Shapes of schedules, named as in Megatron's OptimizerParamScheduler.
enum class LrDecayStyle { constant, linear, cosine, inverse_square_root, wsd };
enum class WsdDecayStyle { exponential, linear, cosine, minus_sqrt };
enum class WeightDecayIncrStyle { constant, linear, cosine };

/// How Adam's state is stored (`--use-precision-aware-optimizer`); u8 stands for e4m3. fp16 and u8
/// are scaled in blocks (kernels/elementwise/stored_numbers.h).
struct StateTypes {
  DType main_params = DType::f32;
  DType exp_avg = DType::f32;
  DType exp_avg_sq = DType::f32;
  bool masters_below_params = false;  // derived: fp32 masters share their upper half with bf16
                                      // parameters
  bool operator==(const StateTypes&) const = default;
};

/// Parameters of `--optimizer-cpu-offload`: which share of a device's parameters the processor
/// updates, and how.
struct OffloadConfig {
  double fraction = 1;  // of the elements
  bool overlap = false;
  bool pin_grads = true;
  bool pin_params = true;
};

/// Coefficients of the Newton-Schulz steps by which Muon (Jordan et al. 2024) makes the average of
/// gradients orthogonal.
enum class MuonCoefficients { simple, quintic, polar_express, cans, aol };
/// How an update's size follows from its matrix's shape.
enum class MuonScale { spectral, unit_rms_norm, shape_scaling };
/// Averages of squares by whose roots adaptive Muon divides a scaled direction: of every element
/// (AdaMuon, Si et al. 2025), or of every row or column along the longer side (NorMuon, Li et al.
/// 2025).
enum class MuonMoments { none, adamuon, normuon };
/// Parameters of Muon.
struct MuonConfig {
  double momentum = 0.9;
  bool nesterov = false;
  /// Rows of the parts of a query group that linear_qkv is taken apart into; empty: it is not.
  std::vector<Index> qkv_rows;
  Index steps = 5;
  MuonCoefficients coefficients = MuonCoefficients::quintic;
  MuonScale scale = MuonScale::spectral;
  double extra_scale = 1;
  bool fp32_products = false;  // else of factors rounded to bf16
  bool blockwise = false;      // each tensor parallel rank takes its piece for the matrix
  bool lion_beside = false;    // for all other parameters, in place of Adam
  MuonMoments moments = MuonMoments::none;
  double moments_beta = 0.95;
  double moments_eps = 1e-8;
};

/// Parameters of SOAP (Vyas et al. 2024) beside Adam's betas.
struct SoapConfig {
  double shampoo_beta = 0.95;  // of the averages of Gram matrices
  Index frequency = 1;         // updates from basis to basis
  bool kl = true;              // KL-Shampoo's averages (Lin et al. 2025)
};

/// The schedule of the learning rate. Lengths are samples.
struct LearningRateConfig {
  double lr = 0;
  double min_lr = 0;
  LrDecayStyle lr_decay_style = LrDecayStyle::linear;
  WsdDecayStyle lr_wsd_decay_style = WsdDecayStyle::exponential;
  double lr_warmup_init = 0;
  double lr_warmup_steps = 0;              // derived, samples; fractional with --lr-warmup-fraction
  Index lr_decay_steps = 0;                // derived, samples
  Index lr_wsd_decay_steps = 0;            // derived, samples; only for wsd
  double head_lr_mult = 1;                 // on the rates of parameters under "head."
  std::optional<double> decoupled_lr;      // for the embedding and the output matrix
  std::optional<double> decoupled_min_lr;  // derived: = min_lr
  bool override_opt_param_scheduler = false;
  bool use_checkpoint_opt_param_scheduler = false;
};

/// The share of a weight that decays in a step, and how it grows.
struct WeightDecayConfig {
  double weight_decay = 0.01;
  double start_weight_decay = 0.01;  // derived: = weight_decay for the constant style
  double end_weight_decay = 0.01;    // derived: likewise
  WeightDecayIncrStyle weight_decay_incr_style = WeightDecayIncrStyle::constant;
  Index wd_incr_steps = 0;                    // derived, samples: the whole training
  bool no_weight_decay_on_embedding = false;  // derived: --embedding-init-method-std was given
};

/// Types of parameters, gradients and optimizer state, and the scale of losses.
struct MixedPrecisionConfig {
  bool fp16 = false;
  bool bf16 = false;
  DType params_dtype = DType::f32;  // derived
  bool accumulate_allreduce_grads_in_fp32 =
      false;                           // derived: on for bf16 unless --grad-reduce-in-bf16
  DType main_grad_dtype = DType::f32;  // derived: f32 if the line above or fp32, else params_dtype
  std::optional<double> loss_scale;    // constant, where losses are scaled; unset and fp16: dynamic
  double initial_loss_scale = 4294967296.0;
  double min_loss_scale = 1.0;
  double loss_scale_window = 1000;
  Index hysteresis = 2;
  StateTypes state_types;
  std::optional<OffloadConfig> offload;
};

/// Update rule, schedules, clipping and loss scaling. Schedules count samples ("steps" below), also
/// when the user counted iterations: iterations * global_batch_size.
struct OptimizerConfig : LearningRateConfig, WeightDecayConfig, MixedPrecisionConfig {
  OptimizerKind optimizer = OptimizerKind::adam;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_eps = 1e-8;
  double sgd_momentum = 0.9;
  double clip_grad = 1.0;  // 0: no clipping
  MuonConfig muon;
  SoapConfig soap;
  double lion_beta1 = 0.95;  // derived: of Adam where Lion is the optimizer itself
  double lion_beta2 = 0.98;
  double mup_width = 1;  // derived: with --use-mup h / base width, by which rates are divided

  bool log_num_zeros_in_grad = false;
};

}  // namespace mpitron::config
