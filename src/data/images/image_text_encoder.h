#pragma once
#include "data/images/image_texts.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::data {

/// Returns a function that makes tokens of conversations about images: turn by turn, the end of a
/// document behind each; what the assistant says, and the end behind it, is learned. `image_tags`:
/// texts around every image. The tokenizer must outlive the result.
std::function<MarkedTokens(const ImageConversation&)> make_image_text_encoder(
    const tokenizers::Tokenizer& tokenizer, config::ImageTags image_tags = config::ImageTags::none);

/// Returns the tokens that stand in front of an image's tiles, those of the whole image last; empty
/// without tags.
std::vector<std::vector<std::int64_t>> tile_tags(const tokenizers::Tokenizer& tokenizer,
                                                 const config::TilingConfig& tiling);

}  // namespace mpitron::data
