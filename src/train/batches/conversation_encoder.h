#pragma once
#include "data/gpt/encoded_conversation.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::train {

/// How the tokenizer of a run with `--sft`, an SftTokenizer (constraint E159), makes tokens of
/// conversations, and which of them are learned. It must outlive the result.
data::EncodeConversation make_conversation_encoder(
    const tokenizers::Tokenizer& tokenizer, data::LearnedTurns turns = data::LearnedTurns::answers);

}  // namespace mpitron::train
