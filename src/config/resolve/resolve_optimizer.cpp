#include "config/resolve/derive.h"
#include "config/resolve/resolve.h"

// Options on update rules, schedules and types of state as an OptimizerConfig.

namespace mpitron::config {
namespace {

/// Counts all lengths in samples, so that a ramp-up of the batch bends no schedule; one iteration
/// is a full batch.
void resolve_lr(OptimizerConfig& o, const OptionValues& v, const TrainingConfig& t) {
  using enum LrDecayStyle;
  o.lr = v.maybe_real("lr").value_or(0);
  o.min_lr = v.real("min_lr");
  o.lr_decay_style =
      pick<LrDecayStyle>(v.text("lr_decay_style"), {{"constant", constant},
                                                    {"linear", linear},
                                                    {"cosine", cosine},
                                                    {"inverse-square-root", inverse_square_root},
                                                    {"WSD", wsd}});
  o.lr_wsd_decay_style = pick<WsdDecayStyle>(v.text("lr_wsd_decay_style"),
                                             {{"exponential", WsdDecayStyle::exponential},
                                              {"linear", WsdDecayStyle::linear},
                                              {"cosine", WsdDecayStyle::cosine},
                                              {"minus_sqrt", WsdDecayStyle::minus_sqrt}});
  o.lr_warmup_init = v.real("lr_warmup_init");
  const bool samples = t.train_samples.has_value() && !v.has("train_iters");
  const Index unit = samples ? 1 : t.global_batch_size;
  const char* decay = samples ? "lr_decay_samples" : "lr_decay_iters";
  const char* last_phase = samples ? "lr_wsd_decay_samples" : "lr_wsd_decay_iters";
  const char* warmup = samples ? "lr_warmup_samples" : "lr_warmup_iters";
  o.lr_decay_steps = v.maybe_integer(decay).value_or(0) * unit;
  o.lr_wsd_decay_steps = v.maybe_integer(last_phase).value_or(0) * unit;
  const std::optional<double> fraction = v.maybe_real("lr_warmup_fraction");
  o.lr_warmup_steps = fraction ? *fraction * static_cast<double>(o.lr_decay_steps)
                               : static_cast<double>(v.integer(warmup) * unit);
  o.wd_incr_steps = samples ? *t.train_samples : t.train_iters * t.global_batch_size;
  o.head_lr_mult = v.real("head_lr_mult");
  o.decoupled_lr = v.maybe_real("decoupled_lr");
  o.decoupled_min_lr = v.maybe_real("decoupled_min_lr");
  o.override_opt_param_scheduler = v.flag("override_opt_param_scheduler");
  o.use_checkpoint_opt_param_scheduler = v.flag("use_checkpoint_opt_param_scheduler");
}

/// Reads types of stored state; u8 stands for the 8-bit format, which has scales beside it.
StateTypes resolve_state_types(const OptionValues& v) {
  const auto type = [&](const char* name) {
    return pick<DType>(
        v.text(name),
        {{"fp32", DType::f32}, {"fp16", DType::f16}, {"bf16", DType::bf16}, {"fp8", DType::u8}});
  };
  StateTypes types{.main_params = type("main_params_dtype"),
                   .exp_avg = type("exp_avg_dtype"),
                   .exp_avg_sq = type("exp_avg_sq_dtype")};
  types.masters_below_params =
      v.flag("use_precision_aware_optimizer") && v.flag("bf16") && types.main_params == DType::f32;
  return types;
}

/// Returns the rows of a query group in linear_qkv: queries, their gates, key, value.
std::vector<Index> qkv_rows(const OptionValues& v) {
  const Index heads = v.maybe_integer("num_attention_heads").value_or(0);
  const Index groups = v.integer("num_query_groups");
  const Index d = v.maybe_integer("kv_channels").value_or(0);
  if (!v.flag("muon_split_qkv") || groups < 1 || heads < 1 || d < 1) {
    return {};
  }
  const Index queries = heads / groups * d;
  return v.flag("attention_output_gate") ? std::vector<Index>{queries, queries, d, d}
                                         : std::vector<Index>{queries, d, d};
}

/// Splits rows of queries, keys and values where the reference splits them, each orthogonalised
/// alone.
MuonConfig resolve_muon(const OptionValues& v) {
  MuonConfig m{.momentum = v.real("muon_momentum"),
               .nesterov = v.flag("muon_nesterov"),
               .qkv_rows = qkv_rows(v),
               .steps = v.integer("muon_num_ns_steps"),
               .extra_scale = v.real("muon_extra_scale_factor"),
               .fp32_products = v.text("muon_fp32_matmul_prec") == "high",
               .blockwise = v.text("muon_tp_mode") == "blockwise",
               .lion_beside = v.text("muon_scalar_optimizer") == "lion",
               .moments_beta = v.real("adaptive_muon_beta2"),
               .moments_eps = v.real("adaptive_muon_eps")};
  if (v.text("optimizer") == "adaptive_muon") {
    m.moments =
        pick<MuonMoments>(v.text("adaptive_muon_moment2_method"),
                          {{"adamuon", MuonMoments::adamuon}, {"normuon", MuonMoments::normuon}});
  }
  m.coefficients = pick<MuonCoefficients>(v.text("muon_coefficient_type"),
                                          {{"simple", MuonCoefficients::simple},
                                           {"quintic", MuonCoefficients::quintic},
                                           {"polar_express", MuonCoefficients::polar_express},
                                           {"cans", MuonCoefficients::cans},
                                           {"aol", MuonCoefficients::aol}});
  m.scale =
      pick<MuonScale>(v.text("muon_scale_mode"), {{"spectral", MuonScale::spectral},
                                                  {"unit_rms_norm", MuonScale::unit_rms_norm},
                                                  {"shape_scaling", MuonScale::shape_scaling}});
  return m;
}

/// Returns nothing without --optimizer-cpu-offload; the fraction is of elements, not of tensors.
std::optional<OffloadConfig> resolve_offload(const OptionValues& v) {
  if (!v.flag("optimizer_cpu_offload")) {
    return {};
  }
  return OffloadConfig{.fraction = v.real("optimizer_offload_fraction"),
                       .overlap = v.flag("overlap_cpu_optimizer_d2h_h2d"),
                       .pin_grads = v.flag("pin_cpu_grads"),
                       .pin_params = v.flag("pin_cpu_params")};
}

}  // namespace

/// Takes `dist_muon` as Muon: whether state is sharded is the layout's business.
OptimizerConfig resolve_optimizer(const OptionValues& v, const TrainingConfig& t) {
  OptimizerConfig o;
  using enum OptimizerKind;
  o.optimizer = pick<OptimizerKind>(v.text("optimizer"), {{"adam", adam},
                                                          {"sgd", sgd},
                                                          {"muon", muon},
                                                          {"dist_muon", muon},
                                                          {"lion", lion},
                                                          {"soap", soap},
                                                          {"adaptive_muon", muon}});
  o.adam_beta1 = v.real("adam_beta1");
  o.adam_beta2 = v.real("adam_beta2");
  o.adam_eps = v.real("adam_eps");
  o.sgd_momentum = v.real("sgd_momentum");
  o.clip_grad = v.real("clip_grad");
  o.muon = resolve_muon(v);
  o.soap = {.shampoo_beta = v.real("soap_shampoo_beta"),
            .frequency = v.integer("soap_precondition_frequency"),
            .kl = v.flag("soap_use_kl_shampoo")};
  o.lion_beta1 = o.optimizer == lion ? o.adam_beta1 : v.real("lion_beta1");
  o.lion_beta2 = o.optimizer == lion ? o.adam_beta2 : v.real("lion_beta2");
  o.mup_width = mup_width(v);
  resolve_lr(o, v, t);
  o.weight_decay = v.real("weight_decay");
  o.start_weight_decay = v.maybe_real("start_weight_decay").value_or(o.weight_decay);
  o.end_weight_decay = v.maybe_real("end_weight_decay").value_or(o.weight_decay);
  o.weight_decay_incr_style = pick<WeightDecayIncrStyle>(
      v.text("weight_decay_incr_style"), {{"constant", WeightDecayIncrStyle::constant},
                                          {"linear", WeightDecayIncrStyle::linear},
                                          {"cosine", WeightDecayIncrStyle::cosine}});
  o.no_weight_decay_on_embedding = v.has("embedding_init_method_std");
  o.fp16 = v.flag("fp16");
  o.bf16 = v.flag("bf16");
  o.params_dtype = params_dtype(v);
  o.accumulate_allreduce_grads_in_fp32 = v.flag("accumulate_allreduce_grads_in_fp32");
  o.main_grad_dtype = o.accumulate_allreduce_grads_in_fp32 ? DType::f32 : o.params_dtype;
  o.loss_scale = scales_loss(v) ? v.maybe_real("loss_scale") : std::nullopt;
  o.initial_loss_scale = v.real("initial_loss_scale");
  o.min_loss_scale = v.real("min_loss_scale");
  o.loss_scale_window = v.real("loss_scale_window");
  o.hysteresis = v.integer("hysteresis");
  o.state_types = resolve_state_types(v);
  o.offload = resolve_offload(v);
  o.log_num_zeros_in_grad = v.flag("log_num_zeros_in_grad");
  return o;
}

}  // namespace mpitron::config
