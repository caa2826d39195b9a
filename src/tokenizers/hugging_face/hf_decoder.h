#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tokenizers/text/json_view.h"

namespace mpitron::tokenizers {

/// The byte that a token like <0x0A> stands for where a decoder has ByteFallback; -1 for others.
int fallback_byte(std::string_view token);

/// Rewrites a list of tokens on its way back to text.
using TokenRule = std::function<void(std::vector<std::string>&)>;

/// The `decoder` of a tokenizer.json; an empty function for null (tokens with spaces between them).
/// Error(data) with the JSON path for a kind that is not supported.
TokenRule make_hf_decoder(const JsonView& spec);

}  // namespace mpitron::tokenizers
