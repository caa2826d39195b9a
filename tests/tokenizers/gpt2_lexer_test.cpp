#include "tokenizers/gpt2_lexer.h"

#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tokenizers/pcre2_splitter.h"
#include "utils/error.h"
#include "utils/utf8.h"

namespace mpitron::tokenizers {
namespace {

using Pieces = std::vector<std::string>;

Pieces lex(std::string_view text) {
  Pieces pieces;
  Gpt2Lexer lexer(text);
  for (std::string_view piece = lexer.next(); !piece.empty(); piece = lexer.next())
    pieces.emplace_back(piece);
  return pieces;
}

// Characters where the classes meet: contractions, runs of spaces, marks, multi-byte letters,
// digits and spaces.
std::string random_text(std::mt19937_64& random) {
  static constexpr std::array<std::uint32_t, 40> kEdges = {
      ' ',  ' ',  ' ',   '\n',   '\t',   '\r',   '\'',   '\'',    's',     't',
      'r',  'e',  'v',   'm',    'l',    'l',    'd',    'S',     'a',     'Z',
      '0',  '9',  '.',   ',',    '-',    '_',    0,      0x7F,    0x85,    0xA0,
      0xE9, 0xB2, 0x301, 0x2028, 0x3000, 0x4E2D, 0xFEFF, 0x1F600, 0x1D7CE, 0x10FFFF};
  std::string text;
  const std::size_t size = random() % 120;
  for (std::size_t i = 0; i < size; ++i) {
    const auto kind = random() % 10;
    std::uint32_t c = kEdges[random() % kEdges.size()];
    if (kind < 4) {
      c = static_cast<std::uint32_t>('a' + random() % 26);
    } else if (kind == 4) {
      c = static_cast<std::uint32_t>(random() % 0x110000);
    }
    const bool excluded = (c >= 0xD800 && c < 0xE000) || c == 0x180E;
    append_utf8(excluded ? 'x' : c, text);
  }
  return text;
}

TEST(Gpt2Lexer, EqualsPcre2OnFuzzedText) {
  const Pcre2Splitter reference(kGpt2Pattern);
  std::mt19937_64 random(7);
  for (int i = 0; i < 40000; ++i) {
    const std::string text = random_text(random);
    ASSERT_EQ(lex(text), reference.split(text)) << "text " << i << ": " << text;
  }
}

TEST(Gpt2Lexer, EqualsPcre2OnEveryCharacterBetweenOthers) {
  const Pcre2Splitter reference(kGpt2Pattern);
  for (std::uint32_t c = 0; c < 0x110000; ++c) {
    if ((c >= 0xD800 && c < 0xE000) || c == 0x180E) {
      continue;
    }
    std::string text = "a";
    append_utf8(c, text);
    text += "1 ";
    append_utf8(c, text);
    ASSERT_EQ(lex(text), reference.split(text)) << "U+" << std::hex << c;
  }
}

TEST(Gpt2Lexer, MongolianVowelSeparatorIsNoSpace) {
  EXPECT_EQ(lex("a\u180E b"), (Pieces{"a", "\u180E", " b"}));
}

TEST(Gpt2Lexer, SplitsByHand) {
  EXPECT_EQ(lex(""), Pieces{});
  EXPECT_EQ(lex("I'm  sure they'll say 'so'."),
            (Pieces{"I", "'m", " ", " sure", " they", "'ll", " say", " '", "so", "'."}));
  EXPECT_EQ(lex("x \n\n y\t"), (Pieces{"x", " \n\n", " y", "\t"}));
  EXPECT_EQ(lex("DON'T"), (Pieces{"DON", "'", "T"}));
  EXPECT_EQ(lex(std::string(100, 'q') + "1"), (Pieces{std::string(100, 'q'), "1"}));
}

// Every length around the eight- and sixteen-letter steps of the fast path, at every distance from
// the end.
TEST(Gpt2Lexer, WordsOfEveryLength) {
  for (std::size_t letters = 1; letters < 40; ++letters) {
    for (std::size_t rest = 0; rest < 40; ++rest) {
      const std::string word = " " + std::string(letters, 'k');
      const std::string tail(rest, '!');
      EXPECT_EQ(lex(word + tail), rest > 0 ? (Pieces{word, tail}) : (Pieces{word}));
      EXPECT_EQ(lex(word + "\u00E9" + tail).front(), word + "\u00E9");
    }
  }
}

TEST(Gpt2Lexer, InvalidUtf8NamesTheByte) {
  for (const std::string bad :
       {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE4\xB8", "\x80"}) {
    try {
      lex("plain words before it " + bad);
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("at byte 22"), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), ExitCode::data);
    }
  }
}

}  // namespace
}  // namespace mpitron::tokenizers
