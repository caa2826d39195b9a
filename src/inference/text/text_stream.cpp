#include "inference/text/text_stream.h"

#include <algorithm>

#include "utils/text/utf8.h"

// Text from tokens as they come. Characters may be split over tokens and tokenizers join words with
// blanks of their own, so the text is decoded with its context, and only its settled part is told.

namespace mpitron::inference {
namespace {

constexpr std::size_t kContext = 6;  // tokens before a new one that may change its text

/// Counts the bytes at the end that begin a character and do not complete it.
std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0u) == 0x80u) {
      continue;
    }
    const std::size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return wanted > back ? back : 0;
  }
  return 0;
}

/// Returns the longest end of `text` that begins `stop` without completing it.
std::size_t partial_match(std::string_view text, std::string_view stop) {
  for (std::size_t size = std::min(text.size(), stop.size() - 1); size > 0; --size) {
    if (text.ends_with(stop.substr(0, size))) {
      return size;
    }
  }
  return 0;
}

}  // namespace

TextStream::TextStream(const tokenizers::Tokenizer& tokenizer, std::span<const TokenId> prompt,
                       StopTexts stop)
    : tokenizer_(tokenizer), stop_(std::move(stop)) {
  const auto context = prompt.last(std::min(kContext, prompt.size()));
  window_.assign(context.begin(), context.end());
  context_ = window_.size();
  std::erase(stop_.before, "");
  std::erase(stop_.after, "");
}

/// Decodes the window and returns what is new. A half character at its end stays in the window
/// until it is whole.
std::string TextStream::decode_new() {
  const std::string all = tokenizer_.decode(window_);
  const std::string known = tokenizer_.decode(std::span(window_).first(context_));
  if (all.size() <= known.size() || incomplete_tail(all) > 0) {
    return {};
  }
  std::string fresh = all.substr(known.size());
  context_ = window_.size();
  if (window_.size() > 2 * kContext) {
    window_.erase(window_.begin(), window_.end() - kContext);
    context_ = window_.size();
  }
  return fresh;
}

bool TextStream::push(TokenId id, bool visible) {
  offsets_.push_back(text_.size());
  if (!visible) {
    return false;
  }
  window_.push_back(id);
  const std::size_t before = text_.size();
  text_ += replace_invalid_utf8(decode_new());
  if (search(before)) {
    settled_ = text_.size();
    return true;
  }
  settle();
  return false;
}

/// Looks for stop texts from `from` on, the earliest first; a text may begin before the last token.
bool TextStream::search(std::size_t from) {
  std::size_t first = std::string::npos;
  for (const std::string& stop : stop_.before) {
    const std::size_t start = from < stop.size() ? 0 : from - stop.size() + 1;
    if (const std::size_t at = text_.find(stop, start); at < first) {
      first = at;
      stopped_by_ = stop;
    }
  }
  if (first != std::string::npos) {
    text_.resize(first);
    return true;
  }
  for (const std::string& stop : stop_.after) {
    const std::size_t start = from < stop.size() ? 0 : from - stop.size() + 1;
    if (text_.find(stop, start) != std::string::npos) {
      stopped_by_ = stop;
      return true;
    }
  }
  return false;
}

/// Settles all text but what may still become a stop text.
void TextStream::settle() {
  std::size_t held = 0;
  for (const std::string& stop : stop_.before) {
    held = std::max(held, partial_match(text_, stop));
  }
  settled_ = std::max(settled_, text_.size() - held);
}

void TextStream::finish() {
  if (stopped_by_.empty() && context_ < window_.size()) {
    const std::string all = tokenizer_.decode(window_);
    const std::string known = tokenizer_.decode(std::span(window_).first(context_));
    if (all.size() > known.size()) {
      text_ += replace_invalid_utf8(std::string_view(all).substr(known.size()));
    }
    context_ = window_.size();
  }
  settled_ = text_.size();
}

}  // namespace mpitron::inference
