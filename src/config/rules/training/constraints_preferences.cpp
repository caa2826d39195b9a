#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of what else a finetuned model learns from: pairs of answers, and a teacher.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

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
             : nullptr;
}

/// Checks options of distillation without a teacher's file, and then the file against the run.
Result distill(const Facts& f) {
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

constexpr std::array kPreferenceRules = std::to_array<Constraint>({
    {"E320", "preferences_alone",
     "--dpo-... options need --dpo, which is for decoders with a loss per pair",
     "dpo dpo-beta dpo-length-normalized dpo-label-smoothing sft-packing sft-train-on-prompt "
     "mtp-num-layers calculate-per-token-loss",
     "A sample is a pair of answers already, and what is learned is their order.",
     preferences_alone},
    {"E321", "preference_values", "--dpo-beta > 0, 0 <= --dpo-label-smoothing < 0.5",
     "dpo-beta dpo-label-smoothing",
     "From one half on, the order would be learned the other way round.", preference_values},
    {"E322", "distillation",
     "--teacher-file and --teacher-output are for GPT; --distillation-... need them",
     "teacher-file teacher-output teacher-top-k distillation-temperature distillation-weight "
     "mtp-num-layers model dpo context-parallel-size",
     "A teacher says of every token which words are likely next.", distill},
    {"E323", "distillation_values",
     "--distillation-temperature > 0, 0 <= --distillation-weight <= 1, --teacher-top-k >= 1",
     "distillation-temperature distillation-weight teacher-top-k",
     "The loss is a mean of the labels' and the teacher's.", distillation_values},
});

}  // namespace

std::span<const Constraint> preference_constraints() {
  return kPreferenceRules;
}

}  // namespace mpitron::config
