#include <tuple>

#include "config/resolve/resolve.h"
#include "config/values/list_expression.h"

// Fields of `mpitron finetune` and of options that only this program has: tasks of labelled texts,
// preferences, teachers, adapters.

namespace mpitron::config {

/// Multiplies batches by the choices of a task: the reference's batches and schedules count texts,
/// of which a sample has several.
void resolve_text_task(RunConfig& run, const OptionValues& v) {
  const TextTask* const task = find_text_task(v.maybe_text("task").value_or(""));
  if (task == nullptr) {
    return;
  }
  run.model.text_head = task->head;
  run.data.text_task = TextTaskConfig{.name = std::string(task->name),
                                      .epochs = v.integer("epochs"),
                                      .keep_last = v.flag("keep_last"),
                                      .train = v.words("train_data"),
                                      .valid = v.words("valid_data"),
                                      .predictions = v.maybe_text("predictions_path")};
  run.training.micro_batch_size *= task->head.choices;
  run.training.global_batch_size *= task->head.choices;
}

/// Makes the low-rank configuration for --load-adapter, too: rank and targets are then the
/// adapter's own.
void resolve_finetuning(ModelConfig& m, const OptionValues& v) {
  if (const auto layers = layer_range(v.maybe_text("freeze_layers").value_or(""))) {
    std::tie(m.frozen.first_layer, m.frozen.last_layer) = *layers;
  }
  m.frozen.embeddings = v.flag("freeze_embeddings");
  if (v.flag("dpo")) {
    m.preference = PreferenceConfig{.beta = v.real("dpo_beta"),
                                    .length_normalized = v.flag("dpo_length_normalized"),
                                    .label_smoothing = v.real("dpo_label_smoothing")};
  }
  if (v.maybe_text("teacher_file")) {
    m.distillation = DistillationConfig{.temperature = v.real("distillation_temperature"),
                                        .weight = v.real("distillation_weight")};
  }
  const std::optional<Index> rank = v.maybe_integer("lora_rank");
  if (!rank && !v.maybe_text("load_adapter")) {
    return;
  }
  m.lora.emplace();  // of --load-adapter: its files say the rest
  m.lora->rank = rank.value_or(0);
  m.lora->alpha = v.maybe_real("lora_alpha").value_or(static_cast<double>(m.lora->rank));
  m.lora->dropout = v.real("lora_dropout");
  m.lora->base_in_4_bits = v.maybe_text("lora_base_weights").has_value();
  m.lora->rank_stabilised = v.flag("lora_rslora");
  const std::string targets = v.text("lora_target_modules");
  m.lora->target_modules = is_expression(targets) ? std::vector{targets} : comma_list(targets);
  for (const auto& [module, number] :
       number_pattern(v.maybe_text("lora_rank_pattern").value_or("")).value_or(NumberPattern{})) {
    m.lora->rank_pattern[module] = static_cast<Index>(number);
  }
  m.lora->alpha_pattern =
      number_pattern(v.maybe_text("lora_alpha_pattern").value_or("")).value_or(NumberPattern{});
}

}  // namespace mpitron::config
