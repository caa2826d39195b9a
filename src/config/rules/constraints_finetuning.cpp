#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/layer_pattern.h"
#include "config/rules/constraint.h"
#include "config/values/list_expression.h"
#include "config/values/option_values.h"

// Rules of finetuning: conversations, packed samples, preferences, teachers, frozen layers,
// low-rank updates and weights in 4 bits.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Names the first option of conversations that stands without --sft.
Result conversations_only(const Facts& f) {
  const DataConfig& d = f.run.data;
  const char* given = d.sft_packing           ? "--sft-packing"
                      : d.sft_train_on_prompt ? "--sft-train-on-prompt"
                      : d.sft_last_turn_only  ? "--sft-last-turn-only"
                      : d.sft_pairs           ? "--dpo"
                                              : nullptr;
  if (given == nullptr || d.sft) {
    return {};
  }
  return Violation{fmt::format("{} without --sft", given), "--sft"};
}

Result one_choice_of_turns(const Facts& f) {
  const DataConfig& d = f.run.data;
  return d.sft_train_on_prompt && d.sft_last_turn_only ? Violation{"both are given", ""} : Result();
}

/// Without a loss per token a microbatch weighs as much as another, however full its packs are.
Result packed_tokens_count_alike(const Facts& f) {
  return f.run.data.sft_packing && !f.run.training.calculate_per_token_loss
             ? Violation{"the mean of each microbatch", "--calculate-per-token-loss"}
             : Result();
}

Result packed_layers(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!f.run.data.sft_packing) {
    return {};
  }
  const char* given = m.mtp_num_layers.value_or(0) > 0 ? "--mtp-num-layers"
                      : !m.family().decoder_only       ? "another model than GPT"
                                                       : nullptr;
  return given != nullptr ? Violation{given, ""} : Result();
}

/// Checks options of DPO without --dpo, and then --dpo against what it excludes, the first of which
/// is named.
Result preferences_alone(const Facts& f) {
  const RunConfig& run = f.run;
  if (!run.model.preference) {
    for (const char* name : {"dpo_beta", "dpo_length_normalized", "dpo_label_smoothing"}) {
      if (f.values.given(name)) {
        return Violation{fmt::format("{} without --dpo", name), "--dpo"};
      }
    }
    return {};
  }
  const char* given = run.data.sft_packing                       ? "--sft-packing"
                      : run.data.sft_train_on_prompt             ? "--sft-train-on-prompt"
                      : run.model.mtp_num_layers.value_or(0) > 0 ? "--mtp-num-layers"
                      : run.training.calculate_per_token_loss    ? "--calculate-per-token-loss"
                      : !run.model.family().decoder_only         ? "another model than GPT"
                      : f.values.text("device") == "cuda"        ? "--device cuda"
                                                                 : nullptr;
  return given != nullptr ? Violation{given, "--dpo without it"} : Result();
}

Result preference_values(const Facts& f) {
  const auto& dpo = f.run.model.preference;
  if (!dpo || (dpo->beta > 0 && dpo->label_smoothing >= 0 && dpo->label_smoothing < 0.5)) {
    return {};
  }
  return Violation{
      fmt::format("--dpo-beta {}, --dpo-label-smoothing {}", dpo->beta, dpo->label_smoothing),
      "--dpo-beta 0.1 --dpo-label-smoothing 0"};
}

/// Returns the setting with which no teacher is written or learned from; null where nothing stands
/// against it.
const char* without_teacher(const Facts& f) {
  const RunConfig& run = f.run;
  const bool writes = run.data.distillation.output.has_value();
  return run.model.mtp_num_layers.value_or(0) > 0 ? "--mtp-num-layers"
         : !run.model.family().decoder_only       ? "another model than GPT"
         : run.model.vlm                          ? "--model vlm"
         : run.model.preference                   ? "--dpo"
         : writes && run.data.distillation.file   ? "--teacher-file beside --teacher-output"
         : writes && run.parallel.context_parallel_size > 1
             ? "--teacher-output with --context-parallel-size above 1"
         : f.values.text("device") == "cuda" ? "--device cuda"
                                             : nullptr;
}

/// Checks options of distillation without a teacher's file, and then the file against the run.
Result distillation(const Facts& f) {
  const DistillationFiles& files = f.run.data.distillation;
  if (!files.file && !files.output) {
    for (const char* name : {"distillation_temperature", "distillation_weight", "teacher_top_k"}) {
      if (f.values.given(name)) {
        return Violation{fmt::format("{} without a teacher", name), "--teacher-file"};
      }
    }
    return {};
  }
  const char* given = without_teacher(f);
  return given != nullptr ? Violation{given, ""} : Result();
}

Result distillation_values(const Facts& f) {
  const auto& learned = f.run.model.distillation;
  const bool fits =
      f.run.data.distillation.top_k >= 1 &&
      (!learned || (learned->temperature > 0 && learned->weight >= 0 && learned->weight <= 1));
  return fits ? Result()
              : Violation{"a value is out of range",
                          "--distillation-temperature 1 --distillation-weight 0.5 "
                          "--teacher-top-k 32"};
}

/// Checks "A-B" against the model's layers.
Result frozen_layers(const Facts& f) {
  const std::optional<std::string> given = f.values.maybe_text("freeze_layers");
  if (!given) {
    return {};
  }
  const auto layers = layer_range(*given);
  const Index count = f.run.model.num_layers;
  if (layers && layers->first >= 1 && layers->second >= layers->first && layers->second <= count) {
    return {};
  }
  return Violation{*given, fmt::format("--freeze-layers 1-{}", count)};
}

/// An empty range of layers (last < first) freezes none.
bool freezes(const ModelConfig& m) {
  return m.frozen.embeddings || m.frozen.last_layer >= m.frozen.first_layer;
}

Result something_is_trained_whole(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!freezes(m) && !m.lora) {
    return {};
  }
  const auto sharding = f.run.parallel.sharding_strategy;
  return sharding == ShardingStrategy::optim_grads_params
             ? Violation{"parameters lie in pieces",
                         "--data-parallel-sharding-strategy optim_grads"}
             : Result();
}

/// An adapter that is loaded says its own values. A pattern must name modules with positive
/// numbers, and the first target must be a valid expression if it is one.
Result low_rank_values(const Facts& f) {
  const auto& lora = f.run.model.lora;
  if (!lora || f.run.checkpoint.load_adapter) {
    return {};
  }
  if (lora->rank < 1 || lora->alpha <= 0 || lora->dropout < 0 || lora->dropout >= 1) {
    return Violation{
        fmt::format("rank {}, alpha {}, dropout {}", lora->rank, lora->alpha, lora->dropout),
        "--lora-rank 16 --lora-alpha 32"};
  }
  for (const char* name : {"lora_rank_pattern", "lora_alpha_pattern"}) {
    const auto pattern = number_pattern(f.values.maybe_text(name).value_or(""));
    if (!pattern ||
        std::ranges::any_of(*pattern, [](const auto& entry) { return entry.second <= 0; })) {
      return Violation{f.values.text(name), "layers.1.self_attn.q_proj=8"};
    }
  }
  if (lora->target_modules.empty()) {
    return Violation{"no --lora-target-modules", "all-linear"};
  }
  const std::string& target = lora->target_modules.front();
  const std::string problem = is_expression(target) ? problem_of_expression(target) : "";
  return problem.empty() ? Result() : Violation{problem, ".*self_attn\\.(q|v)_proj"};
}

/// With --load-adapter even an option that agrees with the adapter's file is refused.
Result low_rank_needs_a_rank(const Facts& f) {
  const bool reads = f.run.checkpoint.load_adapter.has_value();
  for (const char* name : {"lora_rank", "lora_alpha", "lora_dropout", "lora_target_modules",
                           "lora_rslora", "lora_rank_pattern", "lora_alpha_pattern"}) {
    if (f.values.given(name) && reads) {
      return Violation{fmt::format("{} beside --load-adapter", name), "--load-adapter alone"};
    }
    if (f.values.given(name) && !f.run.model.lora) {
      return Violation{fmt::format("{} without a rank", name), "--lora-rank 16"};
    }
  }
  return {};
}

/// Returns why low-rank updates of this model are not there; null where they are.
const char* without_low_rank(const RunConfig& run) {
  const ModelConfig& m = run.model;
  const bool experts = m.moe.has_value();
  return !m.family().decoder_only           ? "another model than GPT"
         : m.mtp_num_layers.value_or(0) > 0 ? "--mtp-num-layers"
         : m.attention_output_gate          ? "--attention-output-gate"
         : experts && m.lora->dropout > 0   ? "--lora-dropout with experts"
         : experts && run.parallel.expert_tensor_parallel_size > 1
             ? "--expert-tensor-parallel-size above 1"
         : m.num_query_groups < run.parallel.tensor_model_parallel_size
             ? "more tensor parallel ranks than query groups"
             : nullptr;
}

Result low_rank_models(const Facts& f) {
  const char* problem = f.run.model.lora ? without_low_rank(f.run) : nullptr;
  return problem != nullptr ? Violation{problem, ""} : Result();
}

Result low_rank_alone(const Facts& f) {
  return f.run.model.lora && freezes(f.run.model)
             ? Violation{"--freeze-layers or --freeze-embeddings given", "--lora-rank alone"}
             : Result();
}

/// Returns the first size that is no multiple of the weights that share a scale; an empty text
/// where all are. Weights that write into the stream are cut by their inputs.
std::string uneven_inputs(const RunConfig& run) {
  constexpr Index kGroup = 64;  // kernels/linear/normal_float.h
  const ModelConfig& m = run.model;
  const Index ranks = run.parallel.tensor_model_parallel_size;
  const Index heads = m.multi_latent_attention ? m.v_head_dim : m.kv_channels;
  const DeltaNetConfig& net = m.hybrid.delta_net;
  const std::pair<const char*, Index> sizes[] = {
      {"--hidden-size", m.hidden_size},
      {"values of heads on a rank", m.num_attention_heads * heads / ranks},
      {"--ffn-hidden-size on a rank", m.ffn_hidden_size / ranks},
      {"--moe-ffn-hidden-size", m.moe ? m.moe->ffn_hidden_size : 0},
      {"shared expert on a rank", m.moe ? m.moe->shared_expert_intermediate_size / ranks : 0},
      {"--q-lora-rank", m.multi_latent_attention ? m.q_lora_rank.value_or(0) : 0},
      {"--kv-lora-rank", m.multi_latent_attention ? m.kv_lora_rank : 0},
      {"Mamba's width on a rank",
       has_mixer(m, MixerKind::state_space) ? m.hybrid.mamba.width() / ranks : 0},
      {"values of delta nets on a rank",
       has_mixer(m, MixerKind::delta_net) ? net.values() / ranks : 0},
  };
  const auto* const uneven =
      std::ranges::find_if(sizes, [](const auto& size) { return size.second % kGroup != 0; });
  return uneven == std::end(sizes) ? "" : fmt::format("{} {}", uneven->first, uneven->second);
}

/// Checks that 4-bit weights stand below low-rank updates, on the host, and divide into groups that
/// share a scale.
Result four_bit_base(const Facts& f) {
  if (!f.values.maybe_text("lora_base_weights")) {
    return {};
  }
  if (!f.run.model.lora) {
    return Violation{"lora_base_weights without a rank", "--lora-rank 16"};
  }
  const std::string given = f.run.model.fp8                     ? "--fp8-format"
                            : f.run.model.tp_comm_overlap       ? "--tp-comm-overlap"
                            : f.values.text("device") == "cuda" ? "--device cuda"
                                                                : uneven_inputs(f.run);
  return given.empty() ? Result() : Violation{given, ""};
}

}  // namespace

std::span<const Constraint> finetuning_constraints() {
  static constexpr std::array kRules = std::to_array<Constraint>({
      {"E310", "conversations_only",
       "--sft-packing, --sft-train-on-prompt, "
       "--sft-last-turn-only and --dpo need --sft",
       "sft sft-packing sft-train-on-prompt "
       "sft-last-turn-only dpo",
       "They say which words of a conversation are learned, "
       "and how samples are made of them.",
       conversations_only},
      {"E311", "one_choice_of_turns", "--sft-train-on-prompt excludes --sft-last-turn-only",
       "sft-train-on-prompt sft-last-turn-only",
       "One of them learns more than the answers, the other "
       "less.",
       one_choice_of_turns},
      {"E312", "packed_tokens_count_alike", "--sft-packing needs --calculate-per-token-loss",
       "sft-packing calculate-per-token-loss",
       "Then a step's gradient depends on its conversations "
       "only, not on how they were packed.",
       packed_tokens_count_alike},
      {"E313", "packed_layers", "--sft-packing is for decoders without --mtp-num-layers",
       "sft-packing model mtp-num-layers",
       "Predictions of further tokens would reach into the next conversation.", packed_layers},
      {"E314", "frozen_layers", "--freeze-layers A-B: 1 <= A <= B <= num-layers",
       "freeze-layers num-layers", "Layers are counted from 1 on.", frozen_layers},
      {"E315", "frozen_parameters_are_whole",
       "frozen parameters exclude parameters in pieces "
       "(ZeRO-3)",
       "freeze-layers freeze-embeddings lora-rank "
       "data-parallel-sharding-strategy",
       "What is not trained has no place in the pieces that "
       "are gathered.",
       something_is_trained_whole},
      {"E316", "low_rank_values",
       "--lora-rank >= 1, --lora-alpha > 0, 0 <= "
       "--lora-dropout < 1, patterns MODULE=NUMBER",
       "lora-rank lora-alpha lora-dropout "
       "lora-target-modules lora-rank-pattern "
       "lora-alpha-pattern",
       "An update is alpha / rank times the product of two "
       "factors.",
       low_rank_values},
      {"E317", "low_rank_needs_a_rank",
       "--lora-... options need --lora-rank, and exclude "
       "--load-adapter",
       "lora-rank lora-alpha lora-dropout "
       "lora-target-modules lora-rslora lora-rank-pattern "
       "lora-alpha-pattern load-adapter",
       "An adapter's files say all of this.", low_rank_needs_a_rank},
      {"E318", "low_rank_models",
       "--lora-rank is for GPT and hybrids with whole "
       "experts",
       "lora-rank tensor-model-parallel-size "
       "expert-tensor-parallel-size lora-dropout",
       "Other layers have no low-rank updates yet.", low_rank_models},
      {"E319", "low_rank_alone",
       "--lora-rank excludes --freeze-layers and "
       "--freeze-embeddings",
       "lora-rank freeze-layers freeze-embeddings",
       "With low-rank updates nothing else is trained.", low_rank_alone},
      {"E320", "preferences_alone",
       "--dpo-... options need --dpo, which is for decoders with a loss per pair, on the host",
       "dpo dpo-beta dpo-length-normalized dpo-label-smoothing sft-packing sft-train-on-prompt "
       "mtp-num-layers calculate-per-token-loss device",
       "A sample is a pair of answers already, and what is learned is their order.",
       preferences_alone},
      {"E321", "preference_values", "--dpo-beta > 0, 0 <= --dpo-label-smoothing < 0.5",
       "dpo-beta dpo-label-smoothing",
       "From one half on, the order would be learned the other way round.", preference_values},
      {"E322", "distillation",
       "--teacher-file and --teacher-output are for GPT on the host; --distillation-... need them",
       "teacher-file teacher-output teacher-top-k distillation-temperature distillation-weight "
       "mtp-num-layers model dpo context-parallel-size device",
       "A teacher says of every token which words are likely next.", distillation},
      {"E323", "distillation_values",
       "--distillation-temperature > 0, 0 <= --distillation-weight <= 1, --teacher-top-k >= 1",
       "distillation-temperature distillation-weight teacher-top-k",
       "The loss is a mean of the labels' and the teacher's.", distillation_values},
      {"E324", "four_bit_base",
       "--lora-base-weights is for --lora-rank or --load-adapter on the host without --fp8-format "
       "and --tp-comm-overlap; 64 divides every weight's inputs on a rank",
       "lora-base-weights lora-rank load-adapter fp8-format tp-comm-overlap device hidden-size "
       "ffn-hidden-size tensor-model-parallel-size",
       "64 weights of a row share a scale, whatever the layout, and a product reads its weight "
       "once.",
       four_bit_base},
  });
  return kRules;
}

}  // namespace mpitron::config
