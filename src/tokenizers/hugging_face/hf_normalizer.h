#pragma once
#include <functional>
#include <string>

#include "tokenizers/text/json_view.h"

namespace mpitron::tokenizers {

/// Rewrites a text (valid UTF-8) before it is cut.
using TextRule = std::function<void(std::string&)>;

/// The `normalizer` of a tokenizer.json; an empty function for null. Error(data) with the JSON path
/// for a kind that is not supported.
TextRule make_hf_normalizer(const JsonView& spec);

}  // namespace mpitron::tokenizers
