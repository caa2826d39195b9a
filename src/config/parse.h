#pragma once
#include <string>
#include <vector>

#include "config/checkpoint_arguments.h"
#include "config/finding.h"
#include "config/option_values.h"
#include "config/run_config.h"

namespace mpitron::config {

/// A configuration with everything that can be said about it.
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

/// Logs the notices and throws Error(usage) with all findings.
ParsedRun checked(ParsedRun parsed);
/// Both.
ParsedRun parse_valid_run(const std::vector<std::string>& arguments, Index world_size = 1);

/// Of the same, what a trainer needs.
RunConfig parse_run_config(const std::vector<std::string>& arguments, Index world_size = 1);

}  // namespace mpitron::config
