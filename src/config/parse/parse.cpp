#include "config/parse/parse.h"

#include <algorithm>

#include "config/resolve/derive.h"
#include "config/resolve/resolve.h"
#include "config/rules/constraint.h"
#include "config/sources/command_line.h"
#include "config/sources/yaml_file.h"
#include "utils/error.h"
#include "utils/log.h"

// From words to a configuration: read, accept, derive, resolve, check. Mistakes are collected, not
// thrown, so that a user sees all of them at once, in the order of the command line and rules last.

namespace mpitron::config {
namespace {

void append(Reading& to, const Reading& from) {
  to.findings.insert(to.findings.end(), from.findings.begin(), from.findings.end());
  to.notices.insert(to.notices.end(), from.notices.begin(), from.notices.end());
}

/// Puts findings of reading first, so that a list of mistakes follows the command line.
void accept_all(const Reading& reading, OptionValues& values, Reading& report) {
  append(report, reading);
  for (const GivenOption& given : reading.given) {
    accept_option(given, values, report);
  }
}

/// Drops all but the last of a repeated option, also for what is said about it.
void keep_last(std::vector<GivenOption>& given) {
  std::vector<GivenOption> kept;
  for (std::size_t i = 0; i < given.size(); ++i) {
    bool again = false;
    for (std::size_t j = i + 1; j < given.size() && !again; ++j) {
      again = given[j].slot == given[i].slot;
    }
    if (!again) {
      kept.push_back(std::move(given[i]));
    }
  }
  given = std::move(kept);
}

/// Returns the path of --yaml-cfg; an empty text without it.
std::string yaml_path(const Reading& line) {
  const std::size_t slot = option_index().slot_of_dest("yaml_cfg");
  for (const GivenOption& given : line.given) {
    if (given.slot == slot && given.words.size() == 1) {
      return given.words[0];
    }
  }
  return {};
}

/// Returns whether a rule is about an option whose value could not be read: it would tell of a
/// value that nobody wrote.
bool follows_from(const std::vector<Finding>& unread, const Finding& rule) {
  const auto named = [&](const std::string& option) {
    return std::ranges::find(rule.options, option) != rule.options.end();
  };
  return std::ranges::any_of(unread, [&](const Finding& mistake) {
    return (mistake.id == ids::kBadValue || mistake.id == ids::kWordCount) &&
           std::ranges::any_of(mistake.options, named);
  });
}

}  // namespace

/// Values of the command line replace those of the YAML file and defaults; what
/// --use-checkpoint-args adopts replaces all of them. Values are derived once, behind all of them.
ParsedRun parse_run(const std::vector<std::string>& arguments, Index world_size,
                    const CheckpointArguments* checkpoint) {
  Reading line = read_command_line(arguments);
  keep_last(line.given);
  ParsedRun parsed;
  Reading report;
  bool unreadable = false;
  if (const std::string path = yaml_path(line); !path.empty()) {
    const Reading file = read_yaml_file(path);
    unreadable = file.given.empty() && !file.findings.empty();
    accept_all(file, parsed.values, report);
  }
  accept_all(line, parsed.values, report);
  if (checkpoint) {
    adopt_checkpoint_arguments(*checkpoint, parsed.values, report);
  }
  derive_values(parsed.values, world_size, report);
  parsed.run = resolve(parsed.values);
  parsed.findings = report.findings;
  parsed.notices = std::move(report.notices);
  if (!unreadable) {  // else the file may have held whatever a rule misses
    for (const Finding& broken : check_constraints({parsed.values, parsed.run})) {
      if (!follows_from(report.findings, broken)) {
        parsed.findings.push_back(broken);
      }
    }
  }
  return parsed;
}

/// Adds the findings of rules that only a training run has (data, prompts): `plan` and `config` do
/// without them.
ParsedRun with_training_rules(ParsedRun parsed) {
  for (const Finding& broken : check_training_constraints({parsed.values, parsed.run})) {
    if (!follows_from(parsed.findings, broken)) {
      parsed.findings.push_back(broken);
    }
  }
  return parsed;
}

ParsedRun parse_valid_run(const std::vector<std::string>& arguments, Index world_size) {
  return checked(parse_run(arguments, world_size));
}

/// Tells notices even where the run is refused: one of them may be the reason.
ParsedRun checked(ParsedRun parsed) {
  for (const std::string& notice : parsed.notices) {
    log::warning("{}", notice);
  }
  if (!parsed.findings.empty()) {
    throw Error(ExitCode::usage, to_text(parsed.findings));
  }
  return parsed;
}

RunConfig parse_run_config(const std::vector<std::string>& arguments, Index world_size) {
  return parse_valid_run(arguments, world_size).run;
}

}  // namespace mpitron::config
