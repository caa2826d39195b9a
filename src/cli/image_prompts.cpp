#include "cli/image_prompts.h"

#include "data/images/image_conversations.h"
#include "utils/system/files.h"

// Prompts about image files for the commands that generate: files to pixels, and <image> marks put
// in front of a text that has none, one for each image.

namespace mpitron::cli {

std::vector<inference::PromptImage> ImagePrompts::read(
    const std::vector<std::string>& paths) const {
  std::vector<inference::PromptImage> images;
  for (const std::string& path : paths) {
    const MappedFile file(path);
    images.push_back(images_.of_bytes(file.bytes(), path));
  }
  return images;
}

void ImagePrompts::ask(std::string text, const std::vector<inference::PromptImage>& images,
                       inference::GenerationRequest& request) const {
  if (data::count_images(text) == 0) {
    for (std::size_t i = 0; i < images.size(); ++i) {
      text.insert(0, std::string(data::kImageWord) + "\n");
    }
  }
  request.prompt = images_.encode_turns(tokenizer_, {{"user", text}}, images);
  request.images = images;
}

}  // namespace mpitron::cli
