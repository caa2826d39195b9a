#pragma once
#include <memory>
#include <string_view>

#include "tokenizers/split/regex_lexer.h"
#include "tokenizers/split/split_lexer.h"

namespace mpitron::tokenizers {

// The published splitting patterns that have a lexer of their own, as PCRE2 reads them.
// clang-format off
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
/// The pattern of OpenAI's cl100k_base, and of Llama 3.
inline constexpr std::string_view kCl100kPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kO200kPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
/// Megatron's --tiktoken-pattern v1 and v2.
inline constexpr std::string_view kTiktokenV1Pattern =
    R"([^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
inline constexpr std::string_view kTiktokenV2Pattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// clang-format on

/// Cuts text into the pieces that byte-level BPE merges: the patterns above by a
/// lexer of their own, any other by PCRE2. Copies share the compiled pattern; const methods may run
/// on any number of threads.
class PreTokenizer {
 public:
  /// Error(data) for a pattern that PCRE2 refuses.
  explicit PreTokenizer(std::string_view pattern = kGpt2Pattern,
                        Regex::Syntax syntax = Regex::Syntax::perl);

  /// Calls use(lexer), whose next() returns piece after piece, with the concrete type of the lexer,
  /// so that its inner loop is compiled into the caller's.
  template <class Use>
  decltype(auto) visit(std::string_view text, Use&& use) const;

  /// Calls use(std::string_view) for each piece: they follow each other and cover the text.
  template <class Use>
  void for_each_piece(std::string_view text, Use use) const {
    visit(text, [&](auto&& lexer) {
      for (std::string_view piece = lexer.next(); !piece.empty(); piece = lexer.next()) {
        use(piece);
      }
    });
  }

  /// Returns whether a lexer of our own knows the pattern; else PCRE2 does it.
  bool has_lexer() const { return regex_ == nullptr; }

 private:
  enum class Kind { gpt2, cl100k, qwen2, o200k, tiktoken_v1, tiktoken_v2, other };
  static Kind kind_of(std::string_view pattern);

  Kind kind_;
  std::shared_ptr<const Regex> regex_;
};

template <class Use>
decltype(auto) PreTokenizer::visit(std::string_view text, Use&& use) const {
  switch (kind_) {
    case Kind::gpt2:
      return use(SplitLexer<kGpt2Rules>(text));
    case Kind::cl100k:
      return use(SplitLexer<kCl100kRules>(text));
    case Kind::qwen2:
      return use(SplitLexer<kQwen2Rules>(text));
    case Kind::o200k:
      return use(SplitLexer<kO200kRules>(text));
    case Kind::tiktoken_v1:
      return use(SplitLexer<kTiktokenV1Rules>(text));
    case Kind::tiktoken_v2:
      return use(SplitLexer<kTiktokenV2Rules>(text));
    case Kind::other:
      break;
  }
  return use(RegexLexer(*regex_, text));
}

}  // namespace mpitron::tokenizers
