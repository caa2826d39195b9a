#include "tokenizers/gpt2_lexer.h"

#include "utils/error.h"
#include "utils/utf8.h"

namespace mpitron::tokenizers {

Gpt2Lexer::Char Gpt2Lexer::read_multibyte(const char* at) const {
  const Utf8Char next = decode_utf8({at, static_cast<std::size_t>(end_ - at)});
  if (next.bytes == 0) {
    throw_data("text is not valid UTF-8 at byte {} (0x{:02X})", at - text_.data(),
               static_cast<unsigned>(static_cast<unsigned char>(*at)));
  }
  return {char_class(next.code_point), next.bytes};
}

inline Gpt2Lexer::Char Gpt2Lexer::read(const char* at) const {
  const auto byte = static_cast<unsigned char>(*at);
  return byte < 0x80 ? Char{kAsciiClasses[byte], 1} : read_multibyte(at);
}

const char* Gpt2Lexer::end_of_run(const char* at, CharClass kind) const {
  while (at < end_) {
    const Char next = read(at);
    if (next.kind != kind) {
      break;
    }
    at += next.bytes;
  }
  return at;
}

// Ends of 's 't 'm 'd 're 've 'll after the apostrophe at the current position; null where there is
// none.
const char* Gpt2Lexer::end_of_contraction() const {
  const std::string_view rest(at_ + 1, static_cast<std::size_t>(end_ - at_ - 1));
  for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
    if (rest.substr(0, ending.size()) == ending) {
      return at_ + 1 + ending.size();
    }
  }
  return nullptr;
}

// \s+(?!\S) takes all but the last space before a visible character; \s+ takes that one where it
// stands alone.
const char* Gpt2Lexer::end_of_spaces() const {
  const char* at = at_;
  const char* last = at_;
  while (at < end_) {
    const Char next = read(at);
    if (next.kind != CharClass::space) {
      return last > at_ ? last : at;
    }
    last = at;
    at += next.bytes;
  }
  return at;
}

std::string_view Gpt2Lexer::next_general() {
  if (at_ == end_) {
    return {};
  }
  if (*at_ == '\'') {
    if (const char* end = end_of_contraction(); end != nullptr) {
      return take(end);
    }
  }
  Char first = read(at_);
  const char* at = at_ + first.bytes;
  if (*at_ == ' ' && at < end_) {
    first = read(at);
    at += first.bytes;
  }
  return take(first.kind == CharClass::space ? end_of_spaces() : end_of_run(at, first.kind));
}

}  // namespace mpitron::tokenizers
