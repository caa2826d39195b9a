#include "tokenizers/split/regex_lexer.h"

#include <array>

#include <pcre2.h>

#include "utils/error.h"

// The only file that knows PCRE2. Patterns come from tokenizer files, texts from anywhere: UTF-8 is
// checked once for a text, and the JIT's stack grows to a limit, beyond which matching is an error
// and no crash.

namespace mpitron::tokenizers {
namespace {

constexpr std::size_t kFirstStack = std::size_t{32} << 10;
constexpr std::size_t kLargestStack = std::size_t{64} << 20;

PCRE2_SPTR bytes_of(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data() != nullptr ? text.data() : "");
}

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

// Not in the unnamed namespace: states, which the header names, consist of it.
template <class T, void (*release)(T*)>
struct Release {
  void operator()(T* object) const { release(object); }
};
template <class T, void (*release)(T*)>
using Owned = std::unique_ptr<T, Release<T, release>>;

struct Regex::State {
  Owned<pcre2_code, pcre2_code_free> code;
};

Regex::Regex(std::string_view pattern, Syntax syntax)
    : pattern_(pattern), state_(std::make_unique<State>()) {
  const bool oniguruma = syntax == Syntax::oniguruma;
  if (oniguruma && pattern.find("&&") != std::string_view::npos) {
    throw_data("the regular expression \"{}\" intersects classes (&&), which is not supported",
               pattern_);
  }
  int code = 0;
  PCRE2_SIZE offset = 0;
  const std::uint32_t options =
      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | (oniguruma ? PCRE2_MULTILINE : 0);
  state_->code.reset(
      pcre2_compile(bytes_of(pattern), pattern.size(), options, &code, &offset, nullptr));
  if (state_->code == nullptr) {
    throw_data("the regular expression \"{}\" is not understood at byte {}: {}", pattern_, offset,
               message_of(code));
  }
  pcre2_jit_compile(state_->code.get(), PCRE2_JIT_COMPLETE);  // without it, matching is only slower
}

Regex::~Regex() = default;

struct RegexLexer::State {
  Owned<pcre2_match_data, pcre2_match_data_free> match;
  Owned<pcre2_match_context, pcre2_match_context_free> context;
  Owned<pcre2_jit_stack, pcre2_jit_stack_free> stack;
};

RegexLexer::RegexLexer(const Regex& regex, std::string_view text)
    : regex_(regex), text_(text), state_(std::make_unique<State>()) {
  state_->match.reset(pcre2_match_data_create_from_pattern(regex.state_->code.get(), nullptr));
}

RegexLexer::~RegexLexer() = default;

/// Puts the next match that is not empty into match_begin_ and match_end_; false where there is
/// none. A match that needs more stack is tried again with one that grows up to kLargestStack.
bool RegexLexer::find_match() {
  std::uint32_t options = PCRE2_NOTEMPTY | (at_ > 0 ? PCRE2_NO_UTF_CHECK : 0);
  int found = 0;
  while (true) {
    found = pcre2_match(regex_.state_->code.get(), bytes_of(text_), text_.size(), at_, options,
                        state_->match.get(), state_->context.get());
    if (found != PCRE2_ERROR_JIT_STACKLIMIT || state_->stack != nullptr) {
      break;
    }
    state_->stack.reset(pcre2_jit_stack_create(kFirstStack, kLargestStack, nullptr));
    state_->context.reset(pcre2_match_context_create(nullptr));
    pcre2_jit_stack_assign(state_->context.get(), nullptr, state_->stack.get());
  }
  if (found == PCRE2_ERROR_NOMATCH) {
    return false;
  }
  if (found <= PCRE2_ERROR_UTF8_ERR1 && found >= PCRE2_ERROR_UTF8_ERR21) {
    const std::size_t at = pcre2_get_startchar(state_->match.get());
    throw_data("text is not valid UTF-8 at byte {} (0x{:02X})", at,
               static_cast<unsigned>(static_cast<unsigned char>(text_[at])));
  }
  if (found < 0) {
    throw_data("the regular expression \"{}\" fails at byte {} of the text: {}", regex_.pattern(),
               at_, message_of(found));
  }
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(state_->match.get());
  match_begin_ = ends[0];
  match_end_ = ends[1];
  return true;
}

/// Hands out what lies before a match first, and keeps the match for the next call.
std::string_view RegexLexer::next() {
  const bool pending = match_end_ > at_;
  if (!pending && at_ < text_.size() && !find_match()) {
    match_begin_ = match_end_ = text_.size();
  }
  matched_ = match_begin_ <= at_;
  const std::size_t end = matched_ ? match_end_ : match_begin_;
  const std::string_view piece = text_.substr(at_, end - at_);
  at_ = end;
  return piece;
}

}  // namespace mpitron::tokenizers
