#pragma once
#include "config/data_config.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::train {

/// Returns a run's tokenizer as make_tokenizer takes it. Options that its type does not read are
/// empty. Error(usage) for a type that trains nothing.
tokenizers::TokenizerOptions tokenizer_options(const config::TokenizerConfig& config);

}  // namespace mpitron::train
