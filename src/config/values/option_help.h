#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/values/option_table.h"

namespace mpitron::config {

/// Returns all options by group, as `--help` prints them.
std::string help_text();

/// Returns one group, named as in `--help-network-size`; throws Error(usage) with the names of all
/// groups otherwise.
std::string help_text(std::string_view group);

/// Returns the text to print if `arguments` ask for help (`--help`, `-h`, `--help-GROUP`), else
/// nothing.
std::optional<std::string> requested_help(const std::vector<std::string>& arguments);

/// Returns the page of `mpitron explain --option`; nothing if there is no such option.
std::optional<std::string> explain_option(std::string_view name);

/// Returns docs/options.md: every option, its values, default, status and meaning.
std::string options_markdown();

/// Returns an option's status: "works", "no effect", "later", ... with what works or what to use
/// instead.
std::string status_text(const Option& option);

/// Returns a group's name as it stands behind `--help-`.
std::string group_slug(std::string_view group);

/// Returns what stands behind the name: choices, or the kind of value.
std::string placeholder(const Option& option);

/// Returns no default for flags: it is their absence.
std::string default_text(const Option& option);

}  // namespace mpitron::config
