#pragma once
#include "data/images/image_texts.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::train {

/// How a run makes tokens of conversations about images: turn by turn, the end of a document behind
/// each; what the assistant says, and the end behind it, is learned. The tokenizer must outlive the
/// result.
std::function<data::MarkedTokens(const data::ImageConversation&)> make_image_text_encoder(
    const tokenizers::Tokenizer& tokenizer);

}  // namespace mpitron::train
