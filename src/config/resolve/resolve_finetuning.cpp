#include <tuple>

#include "config/resolve/resolve.h"
#include "config/values/finetuning_lists.h"

namespace mpitron::config {

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
  // As in the reference, a text is what batches and schedules count.
  run.training.micro_batch_size *= task->head.choices;
  run.training.global_batch_size *= task->head.choices;
}

void resolve_finetuning(ModelConfig& m, const OptionValues& v) {
  if (const auto layers = layer_range(v.maybe_text("freeze_layers").value_or(""))) {
    std::tie(m.frozen.first_layer, m.frozen.last_layer) = *layers;
  }
  m.frozen.embeddings = v.flag("freeze_embeddings");
  const std::optional<Index> rank = v.maybe_integer("lora_rank");
  if (!rank && !v.maybe_text("load_adapter")) {
    return;
  }
  m.lora.emplace();  // of --load-adapter: its files say the rest
  m.lora->rank = rank.value_or(0);
  m.lora->alpha = v.maybe_real("lora_alpha").value_or(static_cast<double>(m.lora->rank));
  m.lora->dropout = v.real("lora_dropout");
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
