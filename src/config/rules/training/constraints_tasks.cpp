#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of `mpitron finetune`.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result task_files(const Facts& f) {
  const auto& task = f.run.data.text_task;
  if (!task) {
    for (const char* name : {"train_data", "valid_data", "epochs", "keep_last"}) {
      if (f.values.given(name)) {
        return Violation{fmt::format("{} without --task", name), "--task MNLI"};
      }
    }
    return {};
  }
  if (task->epochs < 0) {
    return Violation{fmt::format("{} epochs", task->epochs), "--epochs 3"};
  }
  if (task->epochs > 0 && task->train.empty()) {
    return Violation{"no --train-data", "--train-data train.tsv, or --epochs 0"};
  }
  return (task->epochs == 0 || task->predictions) && task->valid.empty()
             ? Violation{"no --valid-data", "--valid-data dev.tsv"}
             : Result();
}

Result task_models(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.text_head) {
    return {};
  }
  const SampleKind samples = m.family().samples;
  const bool other = samples != SampleKind::texts && samples != SampleKind::sentence_pairs;
  const char* given = other                                      ? "another model than BERT and GPT"
                      : m.mtp_num_layers.value_or(0) > 0         ? "--mtp-num-layers"
                      : f.run.parallel.context_parallel_size > 1 ? "--context-parallel-size"
                      : f.run.data.sft                           ? "--sft"
                      : f.run.training.calculate_per_token_loss  ? "--calculate-per-token-loss"
                      : f.run.training.rampup_batch_size         ? "--rampup-batch-size"
                      : f.run.training.train_samples             ? "--train-samples"
                                                                 : nullptr;
  return given != nullptr ? Violation{given, ""} : Result();
}

constexpr std::array kTaskRules = std::to_array<Constraint>({
    {"E330", "task_files",
     "--task needs --train-data, with --epochs 0 or "
     "--predictions-path --valid-data; these need "
     "--task",
     "task train-data valid-data epochs keep-last "
     "predictions-path",
     "They name the labelled texts of `mpitron finetune` "
     "and how often they are learned.",
     task_files},
    {"E331", "task_models",
     "--task is for BERT and GPT, whole sequences, and a "
     "length in epochs",
     "task model context-parallel-size sft "
     "calculate-per-token-loss train-samples",
     "A head reads one position of each text; its loss is "
     "the mean over the texts of a batch.",
     task_models},
});

}  // namespace

std::span<const Constraint> task_constraints() {
  return kTaskRules;
}

}  // namespace mpitron::config
