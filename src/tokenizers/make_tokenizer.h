#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::tokenizers {

/// The values of --tokenizer-type that make_tokenizer knows, for messages.
std::string tokenizer_types();

/// Error(usage) for an unknown type or a missing option, Error(data) for files that do not fit.
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options);

}  // namespace mpitron::tokenizers
