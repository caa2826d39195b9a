#include "data/images/image_conversations.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "data/gpt/conversation_forms.h"
#include "data/images/image_shards.h"
#include "utils/error.h"

// Reads conversations with images from JSON lines, or from pairs of files in tar shards; places of
// images in the text are marked by <image>.

namespace mpitron::data {
namespace {

using nlohmann::json;

/// Returns the value under either name; json::exception where there is neither.
const json& one_of(const json& turn, const char* name, const char* other) {
  const auto found = turn.find(name);
  return found != turn.end() ? *found : turn.at(other);
}

/// Reads a list of turns, in the words of ShareGPT or of OpenAI.
ImageConversation turns_of(const json& list) {
  ImageConversation conversation;
  for (const json& turn : list) {
    conversation.push_back({openai_role(one_of(turn, "from", "role").get<std::string>()),
                            one_of(turn, "value", "content").get<std::string>()});
  }
  return conversation;
}

/// Reads an object with such a list, or the list itself.
ImageConversation conversation_of(const json& value) {
  return turns_of(value.is_array() ? value : one_of(value, "conversations", "messages"));
}

/// Throws Error(data) with `where` unless every image has its place, none of them in an answer:
/// answers are learned, and positions of images are not.
void check_places(const ImageConversation& conversation, Index images, const std::string& where) {
  Index places = 0;
  for (const tokenizers::ChatMessage& turn : conversation) {
    const Index count = count_images(turn.content);
    if (count > 0 && turn.role == "assistant") {
      throw_data("{}: {} in an answer of the assistant", where, kImageWord);
    }
    places += count;
  }
  if (places != images) {
    throw_data("{}: {} images, and {} {} times in the text", where, images, kImageWord, places);
  }
}

/// Conversations in the lines of a file; all are looked at when it is opened.
class ImageConversationFile final : public ConversationList {
 public:
  explicit ImageConversationFile(const std::filesystem::path& path) : path_(path) {
    std::ifstream file(path);
    if (!file) {
      throw_data("{}: cannot be read", path.string());
    }
    Index number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (line.find_first_not_of(" \t\r") != std::string::npos) {
        entries_.push_back(parse(line, number));
      }
    }
    if (entries_.empty()) {
      throw_data("{}: no line", path.string());
    }
  }

  Index size() const override { return static_cast<Index>(entries_.size()); }
  std::string name(Index sample) const override { return place(entry(sample).line); }
  ImageConversation conversation(Index sample) const override { return entry(sample).conversation; }
  Index images(Index sample) const override {
    return static_cast<Index>(entry(sample).images.size());
  }
  std::string image_name(Index sample, Index image) const override {
    const std::string& name = entry(sample).images[static_cast<std::size_t>(image)];
    return (path_.parent_path() / name).string();
  }
  EncodedImage read(Index sample, Index image) const override {
    EncodedImage result{.file = MappedFile(image_name(sample, image)), .bytes = {}};
    result.bytes = result.file.bytes();
    return result;
  }

 private:
  struct Entry {
    std::vector<std::string> images;
    ImageConversation conversation;
    Index line = 0;
  };
  const Entry& entry(Index sample) const { return entries_[static_cast<std::size_t>(sample)]; }
  std::string place(Index line) const { return fmt::format("{}, line {}", path_.string(), line); }

  Entry parse(const std::string& line, Index number) const {
    Entry entry{.images = {}, .conversation = {}, .line = number};
    try {
      const json value = json::parse(line);
      if (const auto image = value.find("image"); image != value.end() && !image->is_null()) {
        entry.images = image->is_string() ? std::vector{image->get<std::string>()}
                                          : image->get<std::vector<std::string>>();
      }
      entry.conversation = conversation_of(value);
    } catch (const json::exception& error) {
      throw_data("{}: no text with images: {}", place(number), error.what());
    }
    check_places(entry.conversation, static_cast<Index>(entry.images.size()), place(number));
    for (const std::string& image : entry.images) {
      if (image.find("://") != std::string::npos) {
        throw_data("{}: {}: nothing is fetched from a network", place(number), image);
      }
    }
    return entry;
  }

  std::filesystem::path path_;
  std::vector<Entry> entries_;
};

/// Conversations in shards; each is looked at when it is read.
class ConversationShards final : public ConversationList {
 public:
  ConversationShards(const std::filesystem::path& path, const std::filesystem::path& index_folder)
      : shards_(path, index_folder) {}

  Index size() const override { return static_cast<Index>(shards_.samples().size()); }
  std::string name(Index sample) const override { return shards_.name(shard_sample(sample)); }

  ImageConversation conversation(Index sample) const override {
    static constexpr std::array<std::string_view, 1> kTurns{"json"}, kCaption{"txt"};
    const TarShards::Sample& found = shard_sample(sample);
    ImageConversation result;
    if (const auto* turns = TarShards::find(found, kTurns)) {
      try {
        result = conversation_of(json::parse(shards_.bytes(found, *turns)));
      } catch (const json::exception& error) {
        throw_data("{}.json: no conversation: {}", name(sample), error.what());
      }
    } else if (const auto* caption = TarShards::find(found, kCaption)) {
      result = {{"user", std::string(kImageWord)},
                {"assistant", std::string(shards_.bytes(found, *caption))}};
    } else {
      throw_data("{}: neither a conversation (.json) nor a caption (.txt)", name(sample));
    }
    check_places(result, images(sample), name(sample));
    return result;
  }

  Index images(Index sample) const override {
    return std::ranges::count_if(shard_sample(sample).parts, is_image);
  }
  std::string image_name(Index sample, Index image) const override {
    return name(sample) + "." + part(sample, image).ending;
  }
  EncodedImage read(Index sample, Index image) const override {
    const std::string_view bytes = shards_.bytes(shard_sample(sample), part(sample, image));
    return {.bytes = std::as_bytes(std::span(bytes))};
  }

 private:
  static bool is_image(const TarShards::Part& part) {
    // KEY.jpg, or of several KEY.0.jpg, KEY.1.jpg.
    const std::size_t dot = part.ending.rfind('.') + 1;
    return std::ranges::count(kShardImages, std::string_view(part.ending).substr(dot)) > 0;
  }
  const TarShards::Sample& shard_sample(Index sample) const {
    return shards_.samples()[static_cast<std::size_t>(sample)];
  }
  const TarShards::Part& part(Index sample, Index image) const {
    for (const TarShards::Part& each : shard_sample(sample).parts) {
      if (is_image(each) && image-- == 0) {
        return each;
      }
    }
    throw_data("{}: an image is missing", name(sample));
  }

  TarShards shards_;
};

}  // namespace

Index count_images(std::string_view text) {
  Index count = 0;
  split_at_images(
      text, [](std::string_view) {}, [&] { ++count; });
  return count;
}

/// Puts tags around each <image>, as prompts of NVLM, InternVL, Gemma 3, Qwen2-VL or Llama 4 have
/// them.
std::string with_image_tags(std::string text, config::ImageTags kind) {
  static const std::map<config::ImageTags, std::pair<std::string, std::string>> kTags = {
      {config::ImageTags::nvlm, {"<Image>", "</Image>"}},
      {config::ImageTags::internvl, {"<img>", "</img>"}},
      {config::ImageTags::gemma3, {"\n\n<start_of_image>", "<end_of_image>\n\n"}},
      {config::ImageTags::qwen2_vl, {"<|vision_start|>", "<|vision_end|>"}},
      {config::ImageTags::llama4, {"<|image_start|><|image|>", "<|image_end|>"}}};
  const auto tags = kTags.find(kind);
  if (tags == kTags.end()) {
    return text;
  }
  const auto& [begin, end] = tags->second;
  for (std::size_t at = text.find(kImageWord); at != std::string::npos;
       at = text.find(kImageWord, at)) {
    text.insert(at, begin);
    at += begin.size() + kImageWord.size();
    text.insert(at, end);
    at += end.size();
  }
  return text;
}

/// Takes shards where the path names any, else a file of JSON lines.
std::unique_ptr<ConversationList> open_conversations(const std::filesystem::path& path,
                                                     const std::filesystem::path& index_folder) {
  if (path.string().find("://") != std::string::npos) {
    throw_data("{}: nothing is fetched from a network; copy it, and name the file or folder",
               path.string());
  }
  if (!shards_of(path).empty()) {
    return std::make_unique<ConversationShards>(path, index_folder);
  }
  return std::make_unique<ImageConversationFile>(path);
}

}  // namespace mpitron::data
