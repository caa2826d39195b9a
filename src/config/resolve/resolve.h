#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "config/layer_pattern.h"
#include "config/run_config.h"
#include "config/values/option_values.h"
#include "utils/check.h"

namespace mpitron::config {

/// Words of an option's choices with the enumerators that they stand for.
template <class E>
using Names = std::initializer_list<std::pair<const char*, E>>;

/// Returns the value that `word` stands for; the option table lets no other words pass.
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
/// for the constraints to tell. The functions below each fill one struct.
RunConfig resolve(const OptionValues& values);

// Its parts; each fills one struct.
ModelConfig resolve_model(const OptionValues& v);
/// Fills layers by letters, and delta nets.
HybridConfig resolve_hybrid(const OptionValues& v);
/// Returns the letters of --model mamba as given, or by the ratios; for other models an empty
/// pattern.
HybridPattern given_pattern(const OptionValues& v);
/// Returns whether this letter is one of the layers or of the depths of prediction.
bool has_letter(const OptionValues& v, char letter);
/// Returns whether a letter or --experimental-attention-variant asks for sparse attention.
bool has_sparse_attention(const OptionValues& v);
/// Fills fields that only later releases have, behind the rest of the model.
void resolve_later_releases(ModelConfig& model, const OptionValues& v);
/// Returns the hidden size over --mup-base-hidden-size; 1 without --use-mup.
double mup_width(const OptionValues& v);
/// Fills the task of `mpitron finetune`: its head, its files, and batches of as many texts as its
/// samples have.
void resolve_text_task(RunConfig& run, const OptionValues& v);
/// Fills which parameters are trained: frozen parts, low-rank updates, preferences, teachers.
void resolve_finetuning(ModelConfig& model, const OptionValues& v);
/// Returns nothing without --num-experts.
std::optional<MoeConfig> resolve_moe(const OptionValues& v);
VisionConfig resolve_vision(const OptionValues& v);
std::optional<VlmConfig> resolve_vlm(const OptionValues& v);
ParallelConfig resolve_parallel(const OptionValues& v);
TrainingConfig resolve_training(const OptionValues& v);
/// Fills the optimizer; `t` has the batches by which the schedules' lengths are counted.
OptimizerConfig resolve_optimizer(const OptionValues& v, const TrainingConfig& t);
DataConfig resolve_data(const OptionValues& v);
LoggingConfig resolve_logging(const OptionValues& v);
CheckpointConfig resolve_checkpoint(const OptionValues& v);

/// Returns the type of parameters and activations.
DType params_dtype(const OptionValues& v);

/// Fills the sizes of latent attention.
void resolve_latent_attention(ModelConfig& m, const OptionValues& v);

/// Fills heads, their groups and their biases.
void resolve_attention(ModelConfig& m, const OptionValues& v);

/// Fills how positions are told.
void resolve_positions(ModelConfig& m, const OptionValues& v);

}  // namespace mpitron::config
