#pragma once
#include <filesystem>

#include "config/vision_config.h"
#include "data/images/image_conversations.h"
#include "inference/scheduling/generator.h"

namespace mpitron::inference {

/// Rules for images that clients may show a model.
struct ImagePolicy {
  std::filesystem::path root;      // files below it may be named; empty: none may
  Index most_images = 16;          // of a prompt
  Index most_pixels = 50'000'000;  // of an image, before anything is unpacked
};

/// Reads images of prompts and cuts them as the model's encoder wants them. Thread-safe.
class PromptImages {
 public:
  PromptImages(const config::VlmConfig& vlm, ImagePolicy policy) : vlm_(vlm), policy_(policy) {}

  /// Reads data:image/...;base64,..., or a file below the root: file:///path or a path.
  /// Error(usage) for other addresses, nothing is fetched from a network; Error(data) for what is
  /// no image.
  PromptImage read(const std::string& url) const;
  /// Reads the bytes of a file. Error(data) with the name.
  PromptImage of_bytes(std::span<const std::byte> bytes, const std::string& name) const;
  /// Encodes a text in which every <image> becomes the positions of the next image, with the tags
  /// around them that the model was trained with. Error(usage) where there are more or fewer of
  /// them.
  TokenIds encode(const tokenizers::Tokenizer& tokenizer, std::string_view text,
                  std::span<const PromptImage> images) const;

  /// Encodes turns as pretrain-vlm learns them: the end of a text behind each.
  TokenIds encode_turns(const tokenizers::Tokenizer& tokenizer,
                        const data::ImageConversation& turns,
                        std::span<const PromptImage> images) const;

  const ImagePolicy& policy() const { return policy_; }

 private:
  /// Expands ids in which config::kImageToken stands for an image.
  TokenIds expanded(std::span<const TokenId> ids, std::span<const PromptImage> images) const;
  Index positions(const PromptImage& image) const;

  config::VlmConfig vlm_;
  ImagePolicy policy_;
};

}  // namespace mpitron::inference
