#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::tokenizers {

/// Lists the values of --tokenizer-type, for messages and help.
std::string tokenizer_types();

/// Makes the tokenizer that the options choose. Error(usage) for an unknown type or a missing
/// option, Error(data) for files that do not fit.
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options);

}  // namespace mpitron::tokenizers
