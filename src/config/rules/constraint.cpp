#include "config/rules/constraint.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

// The engine of rules: all tables joined in the order of their ids, every broken rule found (not
// the first alone), and the legal settings nearest to a wrong number.

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

/// Writes "--x 4 | --x 8": sorted, each value once.
std::string alternatives(std::string_view option, std::vector<Index> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<std::string> out;
  for (const Index value : values) {
    out.push_back(fmt::format("--{} {}", option, value));
  }
  return fmt::format("{}", fmt::join(out, " | "));
}

void sort_by_id(std::vector<Constraint>& rules) {
  std::stable_sort(rules.begin(), rules.end(),
                   [](const Constraint& a, const Constraint& b) { return a.id < b.id; });
}

/// Collects the rules of every command that reads a model, in the order of their ids.
std::vector<Constraint> model_run_constraints() {
  std::vector<Constraint> rules;
  for (const auto part : {model_constraints(),
                          layer_constraints(),
                          fp8_constraints(),
                          moe_constraints(),
                          run_constraints(),
                          data_constraints(),
                          checkpoint_constraints(),
                          layout_constraints(),
                          expert_layout_constraints(),
                          expert_overlap_constraints(),
                          pipeline_constraints(),
                          encoder_constraints(),
                          vision_constraints(),
                          node_constraints(),
                          device_constraints(),
                          transport_constraints(),
                          optimizer_constraints(),
                          later_release_constraints(),
                          gemma_constraints(),
                          hybrid_constraints(),
                          finetuning_constraints(),
                          task_constraints(),
                          vision_language_constraints()}) {
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

/// Leaves divisors that are not positive to a rule of their own.
std::optional<Violation> divides(Index value, Index divisor, const std::string& nearest) {
  if (divisor <= 0 || value % divisor == 0) {
    return {};
  }
  return Violation{fmt::format("{} % {} = {}", value, divisor, value % divisor), nearest};
}

std::string given_of(const Facts& f, std::span<const char* const> dests) {
  std::vector<std::string> given;
  for (const char* dest : dests) {
    if (f.values.given(dest)) {
      given.emplace_back(dest);
    }
  }
  return fmt::format("{}", fmt::join(given, ", "));
}

/// Writes the multiples of `unit` around `value` as flags.
std::string nearest_multiples(std::string_view option, Index value, Index unit) {
  if (unit <= 0) {
    return "";
  }
  const Index below = value / unit * unit;
  return below > 0 ? alternatives(option, {below, below + unit}) : alternatives(option, {unit});
}

/// Finds the divisors of `value` around `wanted`, in pairs so that a huge value takes no time. One
/// more than sixteen times as large is no neighbour.
std::string nearest_divisors(std::string_view option, Index value, Index wanted) {
  if (value <= 0) {
    return "";
  }
  std::optional<Index> below, above;
  for (Index small = 1; small <= value / small; ++small) {  // pairs of divisors
    if (value % small != 0) {
      continue;
    }
    for (const Index d : {small, value / small}) {
      if (d <= wanted) {
        below = std::max(below.value_or(d), d);
      } else if ((d - 1) / 16 < wanted) {
        above = std::min(above.value_or(d), d);
      }
    }
  }
  std::vector<Index> near;
  for (const std::optional<Index>& found : {below, above}) {
    if (found) {
      near.push_back(*found);
    }
  }
  return alternatives(option, near);
}

}  // namespace mpitron::config
