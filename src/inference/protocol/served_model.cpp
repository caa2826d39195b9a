// Turns conversations into prompts and tokens into text for all protocols. What templates, images
// and tokenizers refuse becomes RequestError(400).
#include "inference/protocol/served_model.h"

#include <array>
#include <charconv>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "data/images/image_conversations.h"
#include "inference/templates/chat_prompt.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

namespace mpitron::inference {

namespace {

/// Reads the images that messages show, in their order. Error(usage) where the model sees no
/// images, or not so many.
std::vector<PromptImage> images_of(const std::string& messages, const PromptImages* images) {
  const std::vector<std::string> urls = chat_images(messages);
  if (!urls.empty() && images == nullptr) {
    throw_usage("this model does not see images");
  }
  if (images != nullptr && static_cast<Index>(urls.size()) > images->policy().most_images) {
    throw_usage("{} images; a prompt may have {}", urls.size(), images->policy().most_images);
  }
  std::vector<PromptImage> result;
  for (const std::string& url : urls) {
    result.push_back(images->read(url));
  }
  return result;
}

}  // namespace

std::string ServedModel::names() const {
  std::string all = name;
  for (const ServedAdapter& adapter : adapters->all()) {
    all += ", " + adapter.name;
  }
  return all;
}

AdapterHandle ServedModel::choose(const std::string& wanted) const {
  if (wanted.empty() || wanted == name) {
    return nullptr;
  }
  AdapterHandle adapter = adapters->take(wanted);
  if (adapter == nullptr) {
    throw no_model(wanted);
  }
  return adapter;
}

RequestError ServedModel::no_model(const std::string& wanted) const {
  return {404, fmt::format("the model {} does not exist; there is {}", wanted, names()), "model",
          "model_not_found"};
}

TokenIds ServedModel::chat_prompt(const Fields& fields, std::vector<PromptImage>& shown) const {
  if (fields.kind("messages") != Fields::Kind::list) {
    throw RequestError(400, "messages must be a list of at least one message", "messages");
  }
  const std::string own = fields.text("chat_template", "");
  // A model that sees images without a template still has its own form of a conversation
  // (encode_turns).
  const bool plain = !chat && own.empty();
  if (plain && !images) {
    throw RequestError(400, "this model has no chat template; use /v1/completions", "messages");
  }
  const ChatRequest request{
      .messages = fields.json("messages"),
      .tools = fields.json("tools"),
      .documents = fields.json("documents"),
      .variables = fields.json("chat_template_kwargs"),
      .add_generation_prompt = fields.boolean("add_generation_prompt", true),
      .continue_final_message = fields.boolean("continue_final_message", false),
      .image_text = images ? std::string(data::kImageWord) : ""};
  try {
    shown = images_of(request.messages, images.get());
    if (plain) {
      return images->encode_turns(tokenizer, chat_turns(request.messages), shown);
    }
    const std::string text =
        own.empty()
            ? inference::chat_prompt(*chat, request)
            : inference::chat_prompt(
                  tokenizers::ChatTemplate(
                      own, chat ? chat->tokens() : tokenizers::ChatTemplate::SpecialTokens()),
                  request);
    return shown.empty() ? tokenizer.encode_part(text) : images->encode(tokenizer, text, shown);
  } catch (const Error& error) {
    throw RequestError(400, error.what(), own.empty() ? "messages" : "chat_template");
  }
}

std::string ServedModel::token_text(TokenId id) const {
  return id < 0 ? "<image>" : replace_invalid_utf8(tokenizer.decode(std::span(&id, 1)));
}

std::vector<std::string> ServedModel::segments(const TokenIds& ids) const {
  TextStream stream(tokenizer, {}, {});
  for (const TokenId id : ids) {
    stream.push(id);
  }
  stream.finish();
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t begin = stream.offsets()[i];
    const std::size_t end = i + 1 < ids.size() ? stream.offsets()[i + 1] : stream.text().size();
    pieces.push_back(stream.text().substr(begin, end - begin));
  }
  return pieces;
}

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

double shortest(float value) {
  if (!std::isfinite(value)) {
    return -9999;
  }
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  double result = 0;
  std::from_chars(text.data(), written.ptr, result);
  return result;
}

}  // namespace mpitron::inference
