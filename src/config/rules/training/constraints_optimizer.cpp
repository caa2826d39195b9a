#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/rule_parts.h"

// Rules on types of optimizer state, on updates by the processor, on Muon and on clipping of
// scores.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

bool precision_aware(const Facts& f) {
  return f.values.flag("use_precision_aware_optimizer");
}

Result distributed_adam(const Facts& f) {
  if (!precision_aware(f)) {
    return {};
  }
  if (f.run.optimizer.optimizer != OptimizerKind::adam) {
    return Violation{fmt::format("optimizer = {}", f.values.text("optimizer")), "--optimizer adam"};
  }
  return f.run.parallel.sharding_strategy == ShardingStrategy::no_shard
             ? Violation{"every replica keeps the whole state", "--use-distributed-optimizer"}
             : Result();
}

Result state_types(const Facts& f) {
  if (precision_aware(f)) {
    return {};
  }
  std::vector<std::string> others;
  for (const char* name :
       {"main_grads_dtype", "main_params_dtype", "exp_avg_dtype", "exp_avg_sq_dtype"}) {
    if (f.values.text(name) != "fp32") {
      others.push_back(fmt::format("{} = {}", name, f.values.text(name)));
    }
  }
  return others.empty() ? Result()
                        : Violation{fmt::format("{}", fmt::join(others, ", ")),
                                    "--use-precision-aware-optimizer --use-distributed-optimizer"};
}

Result main_grads(const Facts& f) {
  if (f.values.text("main_grads_dtype") == "fp32") {
    return {};
  }
  if (!f.run.optimizer.bf16) {
    return Violation{"parameters are not bf16", "--bf16"};
  }
  return f.run.optimizer.accumulate_allreduce_grads_in_fp32
             ? Violation{"accumulate_allreduce_grads_in_fp32 = true", "--main-grads-dtype fp32"}
             : Result();
}

Result half_masters(const Facts& f) {
  return f.values.text("main_params_dtype") != "fp32" && f.run.optimizer.params_dtype == DType::f32
             ? Violation{"fp32 parameters are their own masters", "--main-params-dtype fp32"}
             : Result();
}

Result offloaded(const Facts& f) {
  return f.run.optimizer.offload && !precision_aware(f)
             ? Violation{"use_precision_aware_optimizer = false",
                         "--use-precision-aware-optimizer --use-distributed-optimizer"}
             : Result();
}

Result offload_fraction(const Facts& f) {
  const double fraction = f.values.real("optimizer_offload_fraction");
  return fraction >= 0 && fraction <= 1
             ? Result()
             : Violation{fmt::format("optimizer_offload_fraction = {}", fraction),
                         fraction < 0 ? "--optimizer-offload-fraction 0"
                                      : "--optimizer-offload-fraction 1"};
}

Result matrix_rules(const Facts& f) {
  const OptimizerKind kind = f.run.optimizer.optimizer;
  return kind != OptimizerKind::adam && kind != OptimizerKind::sgd && f.values.flag("fp16")
             ? Result(Violation{"--fp16", "--bf16"})
             : Result();
}

/// Numbers by which Muon and Lion would diverge, or do nothing.
Result matrix_rule_numbers(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  if (o.optimizer != OptimizerKind::muon) {
    return {};
  }
  std::vector<std::string> bad, nearest;
  const auto wants = [&](bool holds, const std::string& given, const char* right) {
    if (!holds) {
      bad.push_back(given);
      nearest.emplace_back(right);
    }
  };
  const auto fraction = [](double x) { return x >= 0 && x < 1; };
  wants(fraction(o.muon.momentum), fmt::format("--muon-momentum {}", o.muon.momentum),
        "--muon-momentum 0.9");
  wants(o.muon.steps > 0, fmt::format("--muon-num-ns-steps {}", o.muon.steps),
        "--muon-num-ns-steps 5");
  wants(o.muon.extra_scale > 0, fmt::format("--muon-extra-scale-factor {}", o.muon.extra_scale),
        "--muon-extra-scale-factor 1");
  wants(fraction(o.muon.moments_beta), fmt::format("--adaptive-muon-beta2 {}", o.muon.moments_beta),
        "--adaptive-muon-beta2 0.95");
  wants(o.muon.moments_eps > 0, fmt::format("--adaptive-muon-eps {}", o.muon.moments_eps),
        "--adaptive-muon-eps 1e-8");
  wants(fraction(o.lion_beta1), fmt::format("--lion-beta1 {}", o.lion_beta1), "--lion-beta1 0.95");
  wants(fraction(o.lion_beta2), fmt::format("--lion-beta2 {}", o.lion_beta2), "--lion-beta2 0.98");
  return joined(bad, nearest);
}

/// Rows and columns whose squares are averaged are those of whole matrices, and of the host.
Result moments_of_lines(const Facts& f) {
  if (f.run.optimizer.muon.moments != MuonMoments::normuon) {
    return {};
  }
  std::vector<std::string> bad, nearest;
  if (f.run.optimizer.muon.blockwise) {
    bad.emplace_back("--muon-tp-mode blockwise");
    nearest.emplace_back("--muon-tp-mode duplicated");
  }
  if (f.run.training.device == "cuda") {
    bad.emplace_back("a GPU");
    nearest.emplace_back("--adaptive-muon-moment2-method adamuon");
  }
  return joined(bad, nearest);
}

/// Numbers and devices that SOAP is not made for.
Result soap(const Facts& f) {
  if (f.run.optimizer.optimizer != OptimizerKind::soap) {
    return {};
  }
  const SoapConfig& s = f.run.optimizer.soap;
  std::vector<std::string> bad, nearest;
  if (!(s.shampoo_beta >= 0 && s.shampoo_beta < 1)) {
    bad.push_back(fmt::format("--soap-shampoo-beta {}", s.shampoo_beta));
    nearest.emplace_back("--soap-shampoo-beta 0.95");
  }
  if (s.frequency < 1) {
    bad.push_back(fmt::format("--soap-precondition-frequency {}", s.frequency));
    nearest.emplace_back("--soap-precondition-frequency 1");
  }
  if (f.run.training.device == "cuda") {
    bad.emplace_back("a GPU");
    nearest.emplace_back("--optimizer muon");
  }
  return joined(bad, nearest);
}

/// Tells numbers and everything that stands against them at once.
Result qk_clip(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.qk_clip && !m.log_max_attention_logit) {
    return {};
  }
  std::vector<std::string> bad, nearest;
  const auto refuse = [&](bool wrong, const std::string& given, const char* right) {
    if (wrong) {
      bad.push_back(given);
      nearest.emplace_back(right);
    }
  };
  if (m.qk_clip) {
    const auto& [alpha, threshold] = *m.qk_clip;
    refuse(!(alpha > 0 && alpha < 1), fmt::format("--qk-clip-alpha {}", alpha),
           "--qk-clip-alpha 0.5");
    refuse(!(threshold > 0), fmt::format("--qk-clip-threshold {}", threshold),
           "--qk-clip-threshold 100");
    refuse(f.run.parallel.overlap_param_gather_with_optimizer_step,
           "--overlap-param-gather-with-optimizer-step gathers parameters before rows are scaled",
           "no --overlap-param-gather-with-optimizer-step");
  }
  refuse(!m.family().decoder_only, "an encoder", "a decoder");
  return joined(bad, nearest);
}

/// A schedule that could not be read has no steps; sizes divide as a fixed batch size does.
Result batch_size_steps(const Facts& f) {
  const TrainingConfig& t = f.run.training;
  const auto text = f.values.maybe_text("step_batch_size_schedule");
  if (!text) {
    return {};
  }
  if (t.batch_size_steps.empty()) {
    return Violation{fmt::format("'{}'", *text), "--step-batch-size-schedule \"0:768 250B:1536\""};
  }
  for (const char* other : {"rampup_batch_size", "global_batch_size"}) {
    if (f.values.given(other)) {
      return Violation{fmt::format("{} is given as well", other), "one of them"};
    }
  }
  const Index unit = t.micro_batch_size * f.run.parallel.data_parallel_size;
  for (const TrainingConfig::BatchSizeStep& step : t.batch_size_steps) {
    if (unit > 0 && !t.decrease_batch_size_if_needed && step.size % unit != 0) {
      return Violation{fmt::format("{} % {} = {}", step.size, unit, step.size % unit),
                       "--decrease-batch-size-if-needed"};
    }
  }
  return {};
}

}  // namespace

std::span<const Constraint> optimizer_constraints() {
  static constexpr auto kRules = std::to_array<Constraint>({
      {"E184", "distributed_adam",
       "--use-precision-aware-optimizer needs --optimizer adam and --use-distributed-optimizer",
       "use-precision-aware-optimizer optimizer use-distributed-optimizer use-megatron-fsdp "
       "data-parallel-sharding-strategy",
       "Types are those of Adam's state and of the parts that replicas share.", distributed_adam},
      {"E185", "state_types", "types of state are fp32 without --use-precision-aware-optimizer",
       "use-precision-aware-optimizer main-grads-dtype main-params-dtype exp-avg-dtype "
       "exp-avg-sq-dtype",
       "A type without the flag would silently be ignored.", state_types},
      {"E186", "main_grads",
       "--main-grads-dtype bf16 needs --bf16 without --accumulate-allreduce-grads-in-fp32",
       "main-grads-dtype bf16 accumulate-allreduce-grads-in-fp32",
       "Gradients are added up and summed over replicas in one type.", main_grads},
      {"E195", "half_masters", "--main-params-dtype fp16 needs --bf16 or --fp16",
       "main-params-dtype bf16 fp16", "Only parameters in half precision have masters.",
       half_masters},
      {"E196", "offloaded_optimizer",
       "--optimizer-cpu-offload needs --use-precision-aware-optimizer",
       "optimizer-cpu-offload use-precision-aware-optimizer",
       "As in the reference; the processor's Adam stores state in the same types.", offloaded},
      {"E197", "offload_fraction", "0 <= optimizer_offload_fraction <= 1",
       "optimizer-offload-fraction", "It is a share of the elements.", offload_fraction},
      {"E247", "matrix_rules", "--optimizer muon, adaptive_muon, lion and soap exclude --fp16",
       "optimizer fp16",
       "They are meant for gradients that no loss scale multiplies, as in the reference.",
       matrix_rules},
      {"E360", "matrix_rule_numbers",
       "muon_momentum, adaptive_muon_beta2 and Lion's betas are in [0, 1), muon_num_ns_steps >= 1, "
       "muon_extra_scale_factor and adaptive_muon_eps > 0",
       "muon-momentum muon-num-ns-steps muon-extra-scale-factor adaptive-muon-beta2 "
       "adaptive-muon-eps lion-beta1 lion-beta2",
       "Averages are weighted by them; an update without a step or a scale is none.",
       matrix_rule_numbers},
      {"E361", "moments_of_lines",
       "--adaptive-muon-moment2-method normuon takes whole matrices, on the host",
       "optimizer adaptive-muon-moment2-method muon-tp-mode device",
       "A piece's mean squares are not those of its matrix's rows or columns.", moments_of_lines},
      {"E362", "soap",
       "--optimizer soap: soap_shampoo_beta in [0, 1), soap_precondition_frequency >= 1, on the "
       "host",
       "optimizer soap-shampoo-beta soap-precondition-frequency device",
       "Its eigenvectors are found by the processor.", soap},
      {"E248", "qk_clip", "0 < qk_clip_alpha < 1, qk_clip_threshold > 0; in a decoder",
       "qk-clip qk-clip-alpha qk-clip-threshold log-max-attention-logit "
       "overlap-param-gather-with-optimizer-step",
       "Alpha is the queries' share of the factor; encoders have no such scores in the reference.",
       qk_clip},
      {"E249", "batch_size_steps",
       "--step-batch-size-schedule has TOKENS:SIZE in rising order from 0, sizes as batch_divides",
       "step-batch-size-schedule global-batch-size rampup-batch-size micro-batch-size",
       "Each size holds from so many consumed tokens on, counted in samples.", batch_size_steps},
  });
  return kRules;
}

}  // namespace mpitron::config
