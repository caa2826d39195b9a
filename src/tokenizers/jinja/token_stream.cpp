#include "tokenizers/jinja/token_stream.h"

#include <fmt/format.h>

// The parser's view of a template's tokens. Messages are worded as jinja2 words them, since users
// look them up.

namespace mpitron::tokenizers::jinja {
namespace {

/// Limits of nested brackets and blocks, and of operators in a row: they bound the recursion of
/// whoever walks the tree, and their product its height.
constexpr int kDeepest = 60;
constexpr int kLongestChain = 200;

}  // namespace

bool TokenStream::skip_sign(std::string_view sign) {
  const bool here = at_sign(sign);
  at_ += here ? 1 : 0;
  return here;
}

bool TokenStream::skip_name(std::string_view name) {
  const bool here = at_name(name);
  at_ += here ? 1 : 0;
  return here;
}

void TokenStream::expect_sign(std::string_view sign) {
  if (!skip_sign(sign)) {
    fail(fmt::format("expected token '{}', got {}", sign, described(now())));
  }
}

void TokenStream::expect_name(std::string_view name) {
  if (!skip_name(name)) {
    fail(fmt::format("expected token '{}', got {}", name, described(now())));
  }
}

void TokenStream::expect(Token::Kind kind) {
  if (!at(kind)) {
    fail(fmt::format("expected token {}, got {}", described({kind, "", 0}), described(now())));
  }
  next();
}

std::string TokenStream::expect_any_name() {
  if (!at(Token::Kind::name)) {
    fail(fmt::format("expected a name, got {}", described(now())));
  }
  return next().text;
}

void TokenStream::fail(const std::string& message) const {
  throw SyntaxFault{message, line()};
}

std::string TokenStream::described(const Token& token) {
  switch (token.kind) {
    case Token::Kind::variable_begin:
      return "'{{'";
    case Token::Kind::variable_end:
      return "'end of print statement'";
    case Token::Kind::block_begin:
      return "'{%'";
    case Token::Kind::block_end:
      return "'end of statement block'";
    case Token::Kind::data:
      return "template data";
    case Token::Kind::text:
      return "string";
    case Token::Kind::end:
      return "'end of template'";
    default:
      return fmt::format("'{}'", token.text);
  }
}

TokenStream::Depth::Depth(TokenStream& stream) : stream_(stream) {
  if (++stream.depth_ > kDeepest) {
    --stream.depth_;
    stream.fail(fmt::format("it nests deeper than {}", kDeepest));
  }
}

void TokenStream::check_chain(int links) const {
  if (links > kLongestChain) {
    fail(fmt::format("more than {} operators follow each other", kLongestChain));
  }
}

}  // namespace mpitron::tokenizers::jinja
