#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/values/option_table.h"

namespace mpitron::config {

/// All options by group, as `--help` prints them.
std::string help_text();

/// One group, named as in `--help-network-size`; throws Error(usage) with the names of all groups
/// otherwise.
std::string help_text(std::string_view group);

/// The text to print if `arguments` ask for help (`--help`, `-h`, `--help-GROUP`), else nothing.
std::optional<std::string> requested_help(const std::vector<std::string>& arguments);

/// The page of `mpitron explain --option`; none if there is no such option.
std::optional<std::string> explain_option(std::string_view name);

/// docs/options.md: every option, its values, default, status and meaning.
std::string options_markdown();

/// How an option stands: "works", "no effect", "later", ... with what works or what to use instead.
std::string status_text(const Option& option);

/// A group's name as it stands behind `--help-`.
std::string group_slug(std::string_view group);

}  // namespace mpitron::config
