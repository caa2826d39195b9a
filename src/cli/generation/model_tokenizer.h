#pragma once
#include <memory>
#include <optional>
#include <string>

#include "config/data_config.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::cli {

/// Makes the tokenizer of the model in a folder: that of the options where they name a type, else
/// tokenizer.json beside the model, else the one that the model was trained with, whose files may
/// have moved: options name them anew. Error(usage) where there is none, or a file is missing.
std::unique_ptr<tokenizers::Tokenizer> model_tokenizer(
    const std::string& folder, const tokenizers::TokenizerOptions& options,
    const std::optional<config::TokenizerConfig>& trained_with);

}  // namespace mpitron::cli
