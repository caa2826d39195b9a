#pragma once
#include <optional>
#include <string>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::tokenizers {

/// The one id that a text becomes, and that becomes it again; nothing where there are several, or
/// where the tokenizer reads numbers only. Marks that texts cannot name are not found.
std::optional<TokenId> single_token(const Tokenizer& tokenizer, const std::string& text);

}  // namespace mpitron::tokenizers
