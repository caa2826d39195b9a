#include "tokenizers/chat/sft_tokenizer.h"

#include <algorithm>
#include <utility>

#include "utils/error.h"
#include "utils/text/hash.h"

// Conversations to ids and targets. The text of the whole conversation is encoded once; each turn
// is encoded on its own, too, only to find out which ids are the assistant's, and both must agree.

namespace mpitron::tokenizers {

SftTokenizer::SftTokenizer(const std::filesystem::path& path, const std::string& prompt_format)
    : path_(path),
      prompt_format_(prompt_format),
      text_(path),
      format_(choose_format(text_, prompt_format)),
      template_(prompt_format == "default" && !format_ ? ChatTemplate::of(text_) : std::nullopt) {
  if (format_ && !format_->pad_token().empty() && !text_.find(format_->pad_token())) {
    throw_data(
        "--tokenizer-model {}: has no token \"{}\", which --sft-tokenizer-prompt-format {} fills "
        "samples up with",
        path.string(), format_->pad_token(), prompt_format);
  }
}

/// Prefers a known format to the template that writes it: it knows exactly where the answers are.
std::optional<ChatFormat> SftTokenizer::choose_format(const HuggingFaceTokenizer& text,
                                                      const std::string& name) {
  if (name == "identity") {
    return std::nullopt;
  }
  std::string_view chosen = name;
  if (name == "default") {
    if (text.chat_template().empty()) {
      throw_data(
          "--sft-tokenizer-prompt-format default: the chat template of {} is missing: name a "
          "format, for example chatml",
          text.identity().paths.front().value_or(""));
    }
    const auto known = ChatFormat::recognise(text.chat_template());
    if (!known) {
      return std::nullopt;
    }
    chosen = *known;
  }
  const auto text_of = [&](const std::optional<TokenId>& id) {
    return id ? text.token(*id) : std::string();
  };
  const SpecialIds special = text.special_ids();
  return ChatFormat::named(chosen, {text_of(special.bos), text_of(special.eos)});
}

TokenizerIdentity SftTokenizer::identity() const {
  return {"SFTTokenizer", {path_.string()}, {{"prompt_format", prompt_format_}}};
}

std::string SftTokenizer::fingerprint() const {
  return hash128_hex(text_.fingerprint() + ' ' + prompt_format_);
}

Tokenizer::SpecialIds SftTokenizer::special_ids() const {
  SpecialIds special = text_.special_ids();
  if (format_ && !format_->pad_token().empty()) {
    special.pad = text_.find(format_->pad_token());
  }
  return special;
}

std::vector<ChatTurn> SftTokenizer::render(std::span<const ChatMessage> messages) const {
  if (format_) {
    return format_->render(messages);
  }
  if (template_) {
    return render_template(messages);
  }
  std::vector<ChatTurn> turns;
  for (const ChatMessage& message : messages) {
    turns.push_back(message.role == "assistant" ? ChatTurn{"", message.content}
                                                : ChatTurn{message.content, ""});
  }
  return turns;
}

std::vector<ChatTurn> SftTokenizer::render_template(std::span<const ChatMessage> messages) const {
  std::vector<ChatTurn> turns;
  std::string known;
  const auto behind = [&](const std::string& text, std::size_t turn) {
    if (!text.starts_with(known)) {
      throw_data(
          "the chat template of {} writes the conversation before turn {} ({}) in another way than "
          "with it, so that nobody knows which words are the answer; name a format, for example "
          "chatml",
          path_.string(), turn + 1, messages[turn].role);
    }
    return text.substr(std::exchange(known, text).size());
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role == "assistant") {
      std::string prompt = behind(template_->render(messages.first(i), true), i);
      turns.push_back(
          {std::move(prompt), behind(template_->render(messages.first(i + 1), false), i)});
    } else if (i + 1 == messages.size()) {
      turns.push_back({behind(template_->render(messages, false), i), ""});
    }
  }
  return turns;
}

/// The ids of a turn's prompt alone tell how many of the turn's ids are masked. Targets must be the
/// ids or kIgnored at every place: otherwise tokens merge over the end of a turn, and masks would
/// lie.
SftTokenizer::Conversation SftTokenizer::encode_conversation(std::span<const ChatMessage> messages,
                                                             Cache& cache) const {
  Conversation result;
  std::string whole;
  TokenIds turn_ids, prompt_ids;
  for (const ChatTurn& turn : render(messages)) {
    whole += turn.prompt + turn.answer;
    turn_ids.clear();
    prompt_ids.clear();
    text_.encode_part(turn.prompt + turn.answer, cache, turn_ids);
    text_.encode_part(turn.prompt, cache, prompt_ids);
    const std::size_t begin = result.targets.size();
    result.targets.insert(result.targets.end(), turn_ids.begin(), turn_ids.end());
    const std::size_t masked = turn.answer.empty() ? turn_ids.size() : prompt_ids.size();
    std::fill_n(result.targets.begin() + static_cast<std::ptrdiff_t>(begin),
                std::min(masked, turn_ids.size()), kIgnored);
  }
  text_.encode_part(whole, cache, result.ids);
  const bool fits =
      std::equal(result.ids.begin(), result.ids.end(), result.targets.begin(), result.targets.end(),
                 [](TokenId id, TokenId target) { return target == kIgnored || target == id; });
  if (!fits) {
    throw_data(
        "the tokens of a conversation's turns are not those of the whole conversation: the prompt "
        "format {} does not fit this tokenizer (its markers must be special tokens)",
        prompt_format_);
  }
  return result;
}

}  // namespace mpitron::tokenizers
