#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::tokenizers::jinja {

/// A piece of a template.
struct Token {
  enum class Kind {
    data,
    variable_begin,
    variable_end,
    block_begin,
    block_end,
    name,
    text,
    integer,
    real,
    sign,
    end
  };
  Kind kind;
  std::string text;  // of a text: without quotes and escapes
  int line;
};

/// A mistake in a template's syntax.
struct SyntaxFault {
  std::string message;
  int line;
};

/// The tokens of a template, the last of kind `end`, as Jinja's lexer finds them with trim_blocks
/// and lstrip_blocks. Throws SyntaxFault. Source: jinja2, lexer.py.
std::vector<Token> tokens_of(std::string_view source);

/// A position in the tokens of a template. A token that is not what was expected is a SyntaxFault.
class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& now() const { return tokens_[at_]; }
  /// Returns the token after the next one, the last one at the end.
  const Token& behind() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  int line() const { return now().line; }
  /// Returns the token and moves on; the last token stays.
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }

  bool at(Token::Kind kind) const { return now().kind == kind; }
  bool at_sign(std::string_view sign) const { return is(now(), Token::Kind::sign, sign); }
  bool at_name(std::string_view name) const { return is(now(), Token::Kind::name, name); }
  static bool is(const Token& token, Token::Kind kind, std::string_view text) {
    return token.kind == kind && token.text == text;
  }
  /// Moves on and returns true if the next token is this one.
  bool skip_sign(std::string_view sign);
  bool skip_name(std::string_view name);

  /// Moves past the token that must come.
  void expect_sign(std::string_view sign);
  void expect_name(std::string_view name);
  void expect(Token::Kind kind);
  std::string expect_any_name();

  [[noreturn]] void fail(const std::string& message) const;
  /// Names the token for messages.
  static std::string described(const Token& token);

  /// Counts one level deeper for as long as it lives; a SyntaxFault beyond a limit.
  class Depth {
   public:
    explicit Depth(TokenStream& stream);
    ~Depth() { --stream_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    TokenStream& stream_;
  };
  /// Throws a SyntaxFault for chains of operators whose tree would be too deep to walk.
  void check_chain(int links) const;

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace mpitron::tokenizers::jinja
