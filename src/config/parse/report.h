#pragma once
#include <string>
#include <utility>
#include <vector>

#include "config/parse/parse.h"

namespace mpitron::config {

/// A value as the reference prints it: None, True, 128, text, [1, 2].
std::string display_value(const OptionValues& values, std::size_t slot);

/// Name and value of every option, sorted by name.
std::vector<std::pair<std::string, std::string>> display_values(const OptionValues& values);

/// `  name ........ value`, sorted by name; with `provenance` also where each value comes from.
std::string values_text(const OptionValues& values, bool provenance);

/// The block that training prints at its start, as parsers of the reference's logs expect it: all
/// options, or only those that have not their default values.
std::string arguments_block(const OptionValues& values, bool all);

/// {"name": {"value": ..., "origin": "..."}} or, without provenance, {"name": value}.
std::string values_json(const OptionValues& values, bool provenance);

/// {name: value} of the options that the user gave, in whatever way.
std::string given_values_json(const OptionValues& values);

/// {"ok": ..., "findings": [{id, name, message, nearest, options}], "notices": [...]}
std::string check_json(const ParsedRun& parsed);

/// Returns whether an option takes a list of words.
bool is_list(const Option& option);

/// Returns slots in the order of their stored names, without regard to case; old names are left
/// out.
std::vector<std::size_t> sorted_slots();

}  // namespace mpitron::config
