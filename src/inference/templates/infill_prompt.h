#pragma once
#include <optional>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::inference {

/// Makes the prompt of a text that is wanted between two others, for tokenizers with the tokens of
/// a known family (StarCoder, Qwen, Code Llama, DeepSeek, Codestral); nothing for others.
std::optional<tokenizers::TokenIds> infill_prompt(const tokenizers::Tokenizer& tokenizer,
                                                  const std::string& before,
                                                  const std::string& after);

}  // namespace mpitron::inference
