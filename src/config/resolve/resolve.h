#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "config/layer_pattern.h"
#include "config/run_config.h"
#include "config/values/option_values.h"
#include "utils/check.h"

namespace mpitron::config {

template <class E>
using Names = std::initializer_list<std::pair<const char*, E>>;

/// The value that `word` stands for; the option table lets no other words pass.
template <class E>
E pick(const std::string& word, Names<E> names) {
  for (const auto& [name, value] : names) {
    if (word == name) {
      return value;
    }
  }
  MPITRON_CHECK(false, word);
  return {};
}

/// Turns derived option values into the structs. Total: required values that are missing become 0,
/// for the constraints to tell.
RunConfig resolve(const OptionValues& values);

// Its parts; each fills one struct.
ModelConfig resolve_model(const OptionValues& v);
/// Layers by letters, and delta nets.
HybridConfig resolve_hybrid(const OptionValues& v);
/// Of --model mamba: the letters as given, or by the ratios; else empty.
HybridPattern given_pattern(const OptionValues& v);
/// What only later releases have, behind the rest of the model.
void resolve_later_releases(ModelConfig& model, const OptionValues& v);
/// Hidden size over --mup-base-hidden-size; 1 without --use-mup.
double mup_width(const OptionValues& v);
/// What `mpitron finetune` teaches: its head, its files, and batches of as many texts as its
/// samples have.
void resolve_text_task(RunConfig& run, const OptionValues& v);
/// What of the model is trained.
void resolve_finetuning(ModelConfig& model, const OptionValues& v);
/// None without --num-experts.
std::optional<MoeConfig> resolve_moe(const OptionValues& v);
VisionConfig resolve_vision(const OptionValues& v);
std::optional<VlmConfig> resolve_vlm(const OptionValues& v);
ParallelConfig resolve_parallel(const OptionValues& v);
TrainingConfig resolve_training(const OptionValues& v);
/// `t`: what the schedules' lengths are counted with.
OptimizerConfig resolve_optimizer(const OptionValues& v, const TrainingConfig& t);
DataConfig resolve_data(const OptionValues& v);
LoggingConfig resolve_logging(const OptionValues& v);
CheckpointConfig resolve_checkpoint(const OptionValues& v);

/// The type of parameters and activations.
DType params_dtype(const OptionValues& v);

}  // namespace mpitron::config
