#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"
#include "config/values/list_expression.h"
#include "config/values/option_values.h"

// Rules of finetuning: conversations, packed samples and frozen parameters.

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

constexpr std::array kFinetuningRules = std::to_array<Constraint>({
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
});

}  // namespace

std::span<const Constraint> finetuning_constraints() {
  return kFinetuningRules;
}

}  // namespace mpitron::config
