#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "config/rules/constraint.h"

// What rules of several files ask of a run.

namespace mpitron::config {

/// Returns the first of these options that the user gave; an empty text if none.
std::string first_given(const OptionValues& v, std::initializer_list<const char*> dests);

/// Returns the names of the options among `dests` that the user gave a value other than 0.
std::string given_among(const OptionValues& v, std::initializer_list<const char*> dests);

/// Options that are given and may not be are the whole violation.
std::optional<Violation> given_violation(const std::string& names);

/// Makes one violation of all that is broken of one rule.
std::optional<Violation> joined(const std::vector<std::string>& bad,
                                const std::vector<std::string>& nearest);

/// Returns whether the model sees images alone.
bool is_vision(const Facts& f);

/// An empty range of layers (last < first) freezes none.
bool freezes(const ModelConfig& m);

/// Returns how many model chunks a pipeline rank holds.
Index chunks_per_rank(const ParallelConfig& p);

/// Tells whether the first or the last stage has a number of layers of its own.
bool has_uneven_stages(const ParallelConfig& p);

/// Tells whether the embedding or the loss counts as a layer of its stage.
bool counts_ends_as_layers(const ParallelConfig& p);

/// Makes a rule of models with experts; it holds for all others.
template <std::optional<Violation> (*rule)(const Facts&, const MoeConfig&)>
std::optional<Violation> with_experts(const Facts& f) {
  return f.run.model.moe ? rule(f, *f.run.model.moe) : std::optional<Violation>();
}

}  // namespace mpitron::config
