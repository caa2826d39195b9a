#pragma once
#include <memory>

#include "config/values/option_table.h"
#include "inference/scheduling/generator.h"
#include "inference/tiny_decoder.h"
#include "models/llava/llava_model.h"

namespace mpitron::test {

constexpr Index kEdge = 16, kPositions = 17;  // of an image: pixels, places in a prompt

/// A GPT of two layers that sees images of 16 x 16 pixels. `more`: further options.
inline config::ModelConfig tiny_vlm(const std::string& positions, const std::string& more = "") {
  return tiny_decoder(config::split_words(
      "--model vlm --encoder-num-layers 1 --img-h 16 --img-w 16 --patch-dim 4 "
      "--dataloader-seq-length 40 --tokenizer-type NullTokenizer --vocab-size 60 "
      "--untie-embeddings-and-output-weights --position-embedding-type " +
      positions + more));
}

/// The same as Gemma 3 sees images: their patches are pooled, their positions see each other, also
/// in a layer with a window.
inline config::ModelConfig tiny_pooled_vlm() {
  return tiny_vlm("rope",
                  " --vision-model-type siglip --vision-projection-type pooled "
                  "--mm-tokens-per-image 4 --bidirectional-image-attention --window-size 5,0 "
                  "--window-attn-skip-freq 2");
}

/// The same with patches merged by fours, whose positions stand at rows and columns.
inline config::ModelConfig tiny_vlm_of_axes() {
  return tiny_vlm("mrope", " --mrope-section 1 1 2 --vision-model-type qwen2_vl --pixel-shuffle");
}

/// The same as Llama 4 sees images: a class token behind the patches, an adapter, and experts in a
/// language model that attends within chunks.
inline config::ModelConfig tiny_llama4() {
  return tiny_vlm("rope",
                  " --vision-model-type llama4 --pixel-shuffle --vision-projection-type adapter "
                  "--vision-projection-ffn-hidden-size 24 --rotary-interleaved --no-rope-freq 2 "
                  "--attention-chunk-size 8 --query-scale-floor 4 --num-experts 4 "
                  "--moe-layer-freq 2 --moe-ffn-hidden-size 16 --moe-router-topk 1 "
                  "--moe-router-score-function sigmoid --moe-apply-probs-on-input "
                  "--moe-shared-expert-intermediate-size 16 --disable-bias-linear");
}

inline inference::PromptImage image_of(Index period) {
  std::vector<float> pixels;
  for (Index i = 0; i < 3 * kEdge * kEdge; ++i) {
    pixels.push_back(static_cast<float>(i % period) / 2 - 1);
  }
  return std::make_shared<const std::vector<float>>(std::move(pixels));
}

/// Words, an image, words, another one and words; `images` may be fewer.
inline inference::GenerationRequest request_about(std::vector<inference::PromptImage> images,
                                                  Index positions = kPositions) {
  inference::GenerationRequest result{
      .prompt = {3}, .max_tokens = 6, .sampling = {.temperature = 0}};
  for (std::size_t i = 0; i < images.size(); ++i) {
    result.prompt.insert(result.prompt.end(), static_cast<std::size_t>(positions),
                         config::kImageToken);
    result.prompt.push_back(static_cast<inference::TokenId>(5 + i));
  }
  result.images = std::move(images);
  return result;
}

}  // namespace mpitron::test
