#include "config/rules/constraint.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

// The engine of rules: all tables joined in the order of their ids, and every broken rule found,
// not the first alone.

namespace mpitron::config {
namespace {

struct WordRule {
  const char* id;
  const char* name;
  const char* text;
};

/// Rules about single words, which the readers check; they have pages of `explain` like all others.
constexpr WordRule kWordRules[] = {
    {ids::kUnknownOption, "unknown_option",
     "Names are never abbreviated. `mpitron options` lists all of them; the nearest names are "
     "proposed."},
    {ids::kBadValue, "bad_value", "The word is not of the option's type, or none of its choices."},
    {ids::kWordCount, "word_count",
     "A flag takes no value, other options take one or a list of values."},
    {ids::kRemoved, "removed_option",
     "The reference removed this option; the message names its replacement."},
    {ids::kNotYet, "not_there_yet",
     "mpitron knows this option but this version cannot do it, and never ignores what it cannot "
     "do. Its default value "
     "is accepted."},
    {ids::kRefused, "refused_option", "The option steers something that does not exist here."},
    {ids::kFile, "configuration_file",
     "A file given by --yaml-cfg, --data-args-path or --per-split-data-args-path cannot be read or "
     "understood."},
};

/// Adds dashes: rows hold names without them, messages have them.
std::vector<std::string> dashed(std::string_view names) {
  std::vector<std::string> out = split_words(names);
  for (std::string& name : out) {
    name = "--" + name;
  }
  return out;
}

void sort_by_id(std::vector<Constraint>& rules) {
  std::stable_sort(rules.begin(), rules.end(),
                   [](const Constraint& a, const Constraint& b) { return a.id < b.id; });
}

/// Collects the rules of every command that reads a model, in the order of their ids.
std::vector<Constraint> model_run_constraints() {
  std::vector<Constraint> rules;
  for (const auto part : {model_constraints(),         precision_constraints(),
                          position_constraints(),      layer_constraints(),
                          fp8_constraints(),           moe_constraints(),
                          router_constraints(),        run_length_constraints(),
                          run_constraints(),           schedule_constraints(),
                          batch_constraints(),         data_constraints(),
                          sample_constraints(),        checkpoint_constraints(),
                          conversion_constraints(),    layout_constraints(),
                          data_parallel_constraints(), context_constraints(),
                          expert_layout_constraints(), expert_overlap_constraints(),
                          pipeline_constraints(),      stage_constraints(),
                          encoder_constraints(),       encoder_decoder_constraints(),
                          vision_constraints(),        vision_task_constraints(),
                          node_constraints(),          device_constraints(),
                          transport_constraints(),     optimizer_constraints(),
                          later_release_constraints(), gemma_constraints(),
                          llama4_constraints(),        hybrid_constraints(),
                          recurrent_constraints(),     finetuning_constraints(),
                          preference_constraints(),    low_rank_constraints(),
                          task_constraints(),          vision_language_constraints(),
                          language_part_constraints(), sparse_attention_constraints()}) {
    rules.insert(rules.end(), part.begin(), part.end());
  }
  sort_by_id(rules);
  return rules;
}

/// Finds all broken rules, not the first: a user mends a command line once.
std::vector<Finding> violated(std::span<const Constraint> rules, const Facts& facts) {
  std::vector<Finding> findings;
  for (const Constraint& rule : rules) {
    if (const std::optional<Violation> broken = rule.check(facts)) {
      findings.push_back({std::string(rule.id), std::string(rule.name),
                          fmt::format("{} -> {}.", rule.equation, broken->values), broken->nearest,
                          dashed(rule.options)});
    }
  }
  return findings;
}

}  // namespace

/// Adds those of training alone, for `explain` and the documentation.
std::vector<Constraint> all_constraints() {
  std::vector<Constraint> all = model_run_constraints();
  const auto more = training_constraints();
  all.insert(all.end(), more.begin(), more.end());
  sort_by_id(all);
  return all;
}

std::vector<Finding> check_constraints(const Facts& facts) {
  return violated(model_run_constraints(), facts);
}

std::vector<Finding> check_training_constraints(const Facts& facts) {
  return violated(training_constraints(), facts);
}

/// Searches by id and by name; nothing where there is no such rule.
std::optional<std::string> explain_rule(std::string_view id) {
  for (const WordRule& rule : kWordRules) {
    if (id == rule.id || id == rule.name) {
      return fmt::format("{} {}\n\n{}", rule.id, rule.name, rule.text);
    }
  }
  for (const Constraint& rule : all_constraints()) {
    if (id == rule.id || id == rule.name) {
      return fmt::format("{} {}\n\nRule:    {}\nOptions: {}\n\n{}", rule.id, rule.name,
                         rule.equation, fmt::join(dashed(rule.options), " "), rule.why);
    }
  }
  return std::nullopt;
}

/// Lists the words that `explain` suggests for a mistyped one.
std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const WordRule& rule : kWordRules) {
    names.insert(names.end(), {rule.id, rule.name});
  }
  for (const Constraint& rule : all_constraints()) {
    names.insert(names.end(), {rule.id, rule.name});
  }
  return names;
}

}  // namespace mpitron::config
