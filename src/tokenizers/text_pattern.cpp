#include "tokenizers/text_pattern.h"

#include <pcre2.h>

#include "utils/error.h"

namespace mpitron::tokenizers {
namespace {

std::string message_of(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char*>(buffer);
}

}  // namespace

struct TextPattern::Code {
  ~Code() { pcre2_code_free(code); }
  pcre2_code* code = nullptr;
};

TextPattern::TextPattern() = default;
TextPattern::TextPattern(TextPattern&&) noexcept = default;
TextPattern& TextPattern::operator=(TextPattern&&) noexcept = default;
TextPattern::~TextPattern() = default;

TextPattern TextPattern::literal(std::string text) {
  TextPattern pattern;
  pattern.literal_ = std::move(text);
  return pattern;
}

TextPattern TextPattern::regex(const std::string& expression) {
  if (expression.find("&&") != std::string::npos) {
    throw_data("the regular expression \"{}\" intersects classes (&&), which is not supported",
               expression);
  }
  TextPattern pattern;
  pattern.code_ = std::make_unique<Code>();
  int error = 0;
  PCRE2_SIZE offset = 0;
  pattern.code_->code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_MULTILINE, &error, &offset, nullptr);
  if (pattern.code_->code == nullptr) {
    throw_data("the regular expression \"{}\" is not understood at character {}: {}", expression,
               offset, message_of(error));
  }
  pcre2_jit_compile(pattern.code_->code, PCRE2_JIT_COMPLETE);  // without it matching is only slower
  return pattern;
}

std::optional<TextPattern::Match> TextPattern::find(std::string_view text, std::size_t from) const {
  if (code_ == nullptr) {
    const std::size_t at = literal_.empty() ? std::string_view::npos : text.find(literal_, from);
    return at == std::string_view::npos ? std::nullopt
                                        : std::optional(Match{at, at + literal_.size()});
  }
  const auto free_data = [](pcre2_match_data* data) { pcre2_match_data_free(data); };
  thread_local const std::unique_ptr<pcre2_match_data, decltype(free_data)> data(
      pcre2_match_data_create(1, nullptr), free_data);
  const int found = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                from, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, data.get(), nullptr);
  if (found == PCRE2_ERROR_NOMATCH) {
    return std::nullopt;
  }
  if (found < 0) {
    throw_data("a regular expression of the tokenizer fails on this text: {}", message_of(found));
  }
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
  return Match{ends[0], ends[1]};
}

}  // namespace mpitron::tokenizers
