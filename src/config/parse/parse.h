#pragma once
#include <string>
#include <vector>

#include "config/run_config.h"
#include "config/sources/checkpoint_arguments.h"
#include "config/values/finding.h"
#include "config/values/option_values.h"

namespace mpitron::config {

/// A configuration with all findings and notices about it.
struct ParsedRun {
  OptionValues values;
  RunConfig run;
  std::vector<Finding> findings;  // empty: the run may start
  std::vector<std::string> notices;
};

/// Reads flags (and the file of --yaml-cfg, which flags override), derives, resolves and checks.
/// Never throws for a mistake of the user: all of them are in `findings`. `world_size`: ranks of
/// this run. `checkpoint`: where --use-checkpoint-args takes options from.
ParsedRun parse_run(const std::vector<std::string>& arguments, Index world_size = 1,
                    const CheckpointArguments* checkpoint = nullptr);

/// Appends the findings of rules that only runs with data of their own have (training_constraints).
ParsedRun with_training_rules(ParsedRun parsed);

/// Logs the notices and throws Error(usage) with all findings.
ParsedRun checked(ParsedRun parsed);
/// Parses and checks; Error(usage) with all findings.
ParsedRun parse_valid_run(const std::vector<std::string>& arguments, Index world_size = 1);

/// Returns the structs alone, which is what a trainer needs. Errors as parse_valid_run.
RunConfig parse_run_config(const std::vector<std::string>& arguments, Index world_size = 1);

}  // namespace mpitron::config
