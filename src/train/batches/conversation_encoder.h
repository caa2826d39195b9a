#pragma once
#include "data/sft_dataset.h"
#include "tokenizers/tokenizer.h"

namespace mpitron::train {

/// How the tokenizer of a run with `--sft`, an SftTokenizer (constraint E159), makes tokens of
/// conversations. It must outlive the result. Calls from several threads take turns.
data::EncodeConversation make_conversation_encoder(const tokenizers::Tokenizer& tokenizer);

}  // namespace mpitron::train
