#include "tokenizers/jinja/token_stream.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers::jinja {
namespace token_stream_test {

using Kind = Token::Kind;

TokenStream loop_stream() {
  return TokenStream(
      {{Kind::name, "for", 1}, {Kind::name, "x", 1}, {Kind::sign, "(", 2}, {Kind::end, "", 2}});
}

TEST(TokenStream, MovesOnOnlyWhereTheTokenIsTheOne) {
  TokenStream stream = loop_stream();
  EXPECT_FALSE(stream.skip_sign("for"));  // a name is no sign
  EXPECT_TRUE(stream.skip_name("for"));
  EXPECT_EQ(stream.behind().text, "(");
  EXPECT_EQ(stream.expect_any_name(), "x");
  stream.expect_sign("(");
  EXPECT_TRUE(stream.at(Kind::end));
  stream.next();  // stays at the end
  EXPECT_TRUE(stream.at(Kind::end));
}

TEST(TokenStream, FaultsHaveTheLineOfTheToken) {
  TokenStream stream = loop_stream();
  stream.next();
  stream.next();
  try {
    stream.expect_any_name();
    FAIL();
  } catch (const SyntaxFault& fault) {
    EXPECT_EQ(fault.line, 2);
  }
}

TEST(TokenStream, DepthHasALimit) {
  TokenStream stream = loop_stream();
  std::vector<std::unique_ptr<TokenStream::Depth>> levels;
  const auto go_deeper = [&] { levels.push_back(std::make_unique<TokenStream::Depth>(stream)); };
  EXPECT_THROW(
      for (int i = 0; i < 10000; ++i) { go_deeper(); }, SyntaxFault);
  const std::size_t deepest = levels.size();
  levels.clear();
  for (std::size_t i = 0; i + 1 < deepest; ++i) {
    go_deeper();  // levels that were left count no more
  }
}

}  // namespace token_stream_test
}  // namespace mpitron::tokenizers::jinja
