#pragma once
#include <string>

#include "tokenizers/json_view.h"
#include "tokenizers/text_pattern.h"

namespace mpitron::tokenizers {

/// {"String": text} or {"Regex": expression}. Error(data) with the JSON path for anything else.
TextPattern parse_hf_pattern(const JsonView& spec);

/// Replaces every match in `text` by `content`.
void replace_matches(const TextPattern& pattern, const std::string& content, std::string& text);

}  // namespace mpitron::tokenizers
