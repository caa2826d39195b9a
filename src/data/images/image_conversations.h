#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/vision_config.h"
#include "data/images/image_list.h"
#include "tokenizers/chat/chat_format.h"

namespace mpitron::data {

/// The word that stands for an image in a text.
inline constexpr std::string_view kImageWord = "<image>";

/// Calls words(part) for the text before, between and behind images, and image() for each.
template <class Words, class Image>
void split_at_images(std::string_view text, Words&& words, Image&& image) {
  for (std::size_t at = text.find(kImageWord); at != std::string_view::npos;
       at = text.find(kImageWord)) {
    words(text.substr(0, at));
    image();
    text.remove_prefix(at + kImageWord.size());
  }
  words(text);
}
/// Returns how many images a text has places for.
Index count_images(std::string_view text);
/// Returns the text with the tags that NVLM, InternVL or Gemma 3 put around every image.
std::string with_image_tags(std::string text, config::ImageTags kind);

/// A conversation about images: turns of system, user and assistant, in which each image has its
/// place.
using ImageConversation = std::vector<tokenizers::ChatMessage>;

/// Conversations with their images, wherever they lie. Thread-safe.
class ConversationList {
 public:
  virtual ~ConversationList() = default;
  virtual Index size() const = 0;
  /// Returns where a sample lies, for messages.
  virtual std::string name(Index sample) const = 0;
  /// Returns a conversation. Error(data) where it is something else, or has other places than
  /// images.
  virtual ImageConversation conversation(Index sample) const = 0;
  /// Returns how many images a sample has.
  virtual Index images(Index sample) const = 0;
  virtual std::string image_name(Index sample, Index image) const = 0;
  /// Returns an image's file, valid as long as the list and the result. Error(data) where it cannot
  /// be read.
  virtual EncodedImage read(Index sample, Index image) const = 0;
};

/// Opens a file of lines, {"image": "a.jpg" or a list of them, "conversations": [{"from": "human",
/// "value": "<image>\nHow many?"}, {"from": "gpt", "value": "Three."}]} (LLaVA's form; "role" and
/// "content" mean the same), whose images' paths begin at its folder. Or shards (.tar, or a folder
/// of them) with KEY.json, such a list or object, or KEY.txt, a caption, beside KEY.jpg.
/// Error(data) where there is none, or a line is something else.
std::unique_ptr<ConversationList> open_conversations(
    const std::filesystem::path& path, const std::filesystem::path& index_folder = {});

}  // namespace mpitron::data
