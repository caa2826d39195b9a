#pragma once
#include "config/model_config.h"
#include "data/images/image_list.h"
#include "inference/templates/prompt_images.h"

namespace mpitron::cli {

/// Questions about images for `generate` and `evaluate`: what a user says, as pretrain-vlm learns
/// it. The tokenizer must outlive it.
class ImagePrompts {
 public:
  ImagePrompts(const config::VlmConfig& vlm, const tokenizers::Tokenizer& tokenizer)
      : images_(vlm, {.most_pixels = images::kMostPixels}), tokenizer_(tokenizer) {}

  /// Error(data) where a file cannot be read.
  std::vector<inference::PromptImage> read(const std::vector<std::string>& paths) const;
  /// Makes the prompt: the text with <image> where an image belongs, in front unless it is said,
  /// and the end of the turn.
  void ask(std::string text, const std::vector<inference::PromptImage>& images,
           inference::GenerationRequest& request) const;

 private:
  inference::PromptImages images_;
  const tokenizers::Tokenizer& tokenizer_;
};

}  // namespace mpitron::cli
