#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "config/values/finding.h"
#include "config/values/option_values.h"

namespace mpitron::config {

/// Everything that a rule may look at.
struct Facts {
  const OptionValues& values;
  const RunConfig& run;
};

/// A broken rule: its values, and flags that would be legal.
struct Violation {
  std::string values;
  std::string nearest;
};

/// A rule between options, as a row. `check` returns nothing if the rule holds; it must not assume
/// that any other rule holds (sizes may be zero or missing).
struct Constraint {
  std::string_view id;        // E010 ...
  std::string_view name;      // e.g. layers_per_stage
  std::string_view equation;  // the rule in one line
  std::string_view options;   // names without dashes, separated by blanks
  std::string_view why;       // for `mpitron explain`
  std::optional<Violation> (*check)(const Facts&);
};

// Tables of rules, one for each topic and file; constraint.cpp joins them.
std::span<const Constraint> model_constraints();
std::span<const Constraint> precision_constraints();
std::span<const Constraint> position_constraints();
std::span<const Constraint> layer_constraints();
std::span<const Constraint> later_release_constraints();
std::span<const Constraint> gemma_constraints();
std::span<const Constraint> llama4_constraints();
std::span<const Constraint> hybrid_constraints();
std::span<const Constraint> recurrent_constraints();
std::span<const Constraint> sparse_attention_constraints();
std::span<const Constraint> fp8_constraints();
std::span<const Constraint> moe_constraints();
std::span<const Constraint> router_constraints();
std::span<const Constraint> run_length_constraints();
std::span<const Constraint> run_constraints();
std::span<const Constraint> schedule_constraints();
std::span<const Constraint> batch_constraints();
std::span<const Constraint> data_constraints();
std::span<const Constraint> sample_constraints();
std::span<const Constraint> layout_constraints();
std::span<const Constraint> data_parallel_constraints();
std::span<const Constraint> context_constraints();
std::span<const Constraint> expert_layout_constraints();
std::span<const Constraint> expert_overlap_constraints();
std::span<const Constraint> pipeline_constraints();
std::span<const Constraint> stage_constraints();
std::span<const Constraint> checkpoint_constraints();
std::span<const Constraint> conversion_constraints();
std::span<const Constraint> encoder_constraints();
std::span<const Constraint> encoder_decoder_constraints();
std::span<const Constraint> vision_constraints();
std::span<const Constraint> vision_task_constraints();
std::span<const Constraint> vision_language_constraints();
std::span<const Constraint> language_part_constraints();
std::span<const Constraint> node_constraints();
std::span<const Constraint> device_constraints();
std::span<const Constraint> transport_constraints();
std::span<const Constraint> optimizer_constraints();
std::span<const Constraint> finetuning_constraints();
std::span<const Constraint> preference_constraints();
std::span<const Constraint> low_rank_constraints();
std::span<const Constraint> task_constraints();
/// Rules of runs that train on data of their own: `replay` and `parity` bring theirs.
std::span<const Constraint> training_constraints();

/// Returns those of a list of destinations that the user gave, separated by commas.
std::string given_of(const Facts& f, std::span<const char* const> dests);

/// Returns all rules in the order of their ids.
std::vector<Constraint> all_constraints();

/// Returns every violated rule but those of training_constraints, in the order of ids.
std::vector<Finding> check_constraints(const Facts& facts);
/// Returns every violated rule of training_constraints.
std::vector<Finding> check_training_constraints(const Facts& facts);

/// Returns the page of `mpitron explain` for an id or the name of a rule; nothing if there is no
/// such rule.
std::optional<std::string> explain_rule(std::string_view id);

/// Returns ids and names of all rules.
std::vector<std::string_view> rule_names();

/// Returns which files this tokenizer reads and are not given; nothing if it has all.
std::optional<Violation> missing_tokenizer_files(const DataConfig& data);

/// Returns the violation "46 % 4 = 2" unless value % divisor == 0; a divisor below 1 is for other
/// rules.
std::optional<Violation> divides(Index value, Index divisor, const std::string& nearest);

/// Returns multiples of `unit` around `value`, as "--option 44 | --option 48"; no zero.
std::string nearest_multiples(std::string_view option, Index value, Index unit);
/// Returns divisors of `value` around `wanted`, in the same form.
std::string nearest_divisors(std::string_view option, Index value, Index wanted);
/// Returns the numbers below and above `wanted` that are `legal`, in the same form.
std::string nearest_legal(std::string_view option, Index wanted,
                          const std::function<bool(Index)>& legal);

}  // namespace mpitron::config
