#include "tokenizers/split/split_lexer.h"

#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tokenizers/pieces.h"
#include "tokenizers/split/pre_tokenizer.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

namespace mpitron::tokenizers {
namespace split_lexer_test {

Pieces lex(std::string_view text) {
  return pieces_of(Gpt2Lexer(text));
}

// U+180E lost White_Space in Unicode 6.3, which PCRE2's \s does not know.
std::uint32_t testable(std::uint32_t c) {
  return (c >= 0xD800 && c < 0xE000) || c == 0x180E ? 'x' : c;
}

// Characters where the classes meet: contractions, runs of spaces, marks, letters with and without
// case, digits and line ends.
std::string random_text(std::mt19937_64& random) {
  static constexpr std::array<std::uint32_t, 64> kEdges = {
      ' ',    ' ',   ' ',    '\n',   '\n',   '\t',    '\r',    '\'',     '\'',   '\'',  's',
      't',    'r',   'e',    'v',    'm',    'l',     'l',     'd',      'S',    'T',   'R',
      'E',    'V',   'M',    'L',    'L',    'D',     'A',     'Z',      '0',    '9',   '.',
      ',',    '-',   '_',    '/',    '/',    0,       0x7F,    0x85,     0xA0,   0xE9,  0xC9,
      0xB2,   0x301, 0x301,  0x2028, 0x3000, 0x4E2D,  0x4E2D,  0x2B0,    0x1C5,  0x17F, 0x17F,
      0xFEFF, 0x93E, 0x212A, 0x130,  0x131,  0x1F600, 0x1D7CE, 0x10FFFF, 0x16E40};
  std::string text;
  const std::size_t size = random() % 120;
  const bool mostly_letters = random() % 2 == 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto kind = random() % 10;
    std::uint32_t c = kEdges[random() % kEdges.size()];
    if (kind < 4 && mostly_letters) {
      c = static_cast<std::uint32_t>('a' + random() % 26);
    } else if (kind == 4) {
      c = static_cast<std::uint32_t>(random() % 0x110000);
    } else if (kind == 5) {
      c = static_cast<std::uint32_t>(random() % 0x3000);
    }
    append_utf8(testable(c), text);
  }
  return text;
}

template <SplitRules kRules>
void expect_equal_to_pcre2(std::string_view pattern) {
  const Regex reference(pattern);
  std::mt19937_64 random(7);
  for (int i = 0; i < 40000; ++i) {
    const std::string text = random_text(random);
    ASSERT_EQ(pieces_of(SplitLexer<kRules>(text)), pieces_of(RegexLexer(reference, text)))
        << "text " << i << ": " << text;
  }
}

template <SplitRules kRules>
void expect_every_character_equal_to_pcre2(std::string_view pattern) {
  const Regex reference(pattern);
  constexpr std::uint32_t kCharactersOfOneText = 16;
  for (std::uint32_t first = 0; first < 0x110000; first += kCharactersOfOneText) {
    std::string text;
    for (std::uint32_t c = first; c < first + kCharactersOfOneText; ++c) {
      for (const std::string_view before : {"a", "A", "1 ", "'", "\n"}) {
        text += before;
        append_utf8(testable(c), text);
      }
      append_utf8(testable(c), text);
    }
    ASSERT_EQ(pieces_of(SplitLexer<kRules>(text)), pieces_of(RegexLexer(reference, text)))
        << "U+" << std::hex << first;
  }
}

template <SplitRules kRules>
void expect_long_runs_equal_to_pcre2(std::string_view pattern) {
  const Regex reference(pattern);
  for (const std::string_view unit : {"a", "A", "7", " ", "\n", "-", "/", "\u4E2D", "\u0301"}) {
    std::string text = "x ";
    while (text.size() < std::size_t{1} << 20) {
      text += unit;
    }
    text += "Az";
    EXPECT_TRUE(pieces_of(SplitLexer<kRules>(text)) == pieces_of(RegexLexer(reference, text)))
        << unit;
  }
}

template <SplitRules kRules>
void expect_all_equal_to_pcre2(std::string_view pattern) {
  expect_equal_to_pcre2<kRules>(pattern);
  expect_every_character_equal_to_pcre2<kRules>(pattern);
  expect_long_runs_equal_to_pcre2<kRules>(pattern);
}

TEST(SplitLexer, Gpt2EqualsPcre2) {
  expect_all_equal_to_pcre2<kGpt2Rules>(kGpt2Pattern);
}

TEST(SplitLexer, Cl100kEqualsPcre2) {
  expect_all_equal_to_pcre2<kCl100kRules>(kCl100kPattern);
}

TEST(SplitLexer, Qwen2EqualsPcre2) {
  expect_all_equal_to_pcre2<kQwen2Rules>(kQwen2Pattern);
}

TEST(SplitLexer, O200kEqualsPcre2) {
  expect_all_equal_to_pcre2<kO200kRules>(kO200kPattern);
}

TEST(SplitLexer, TiktokenV1EqualsPcre2) {
  expect_all_equal_to_pcre2<kTiktokenV1Rules>(kTiktokenV1Pattern);
}

TEST(SplitLexer, TiktokenV2EqualsPcre2) {
  expect_all_equal_to_pcre2<kTiktokenV2Rules>(kTiktokenV2Pattern);
}

TEST(SplitLexer, MongolianVowelSeparatorIsNoSpace) {
  EXPECT_EQ(lex("a\u180E b"), (Pieces{"a", "\u180E", " b"}));
}

TEST(SplitLexer, SplitsByHand) {
  EXPECT_EQ(lex(""), Pieces{});
  EXPECT_EQ(lex("I'm  sure they'll say 'so'."),
            (Pieces{"I", "'m", " ", " sure", " they", "'ll", " say", " '", "so", "'."}));
  EXPECT_EQ(lex("x \n\n y\t"), (Pieces{"x", " \n\n", " y", "\t"}));
  EXPECT_EQ(lex("DON'T"), (Pieces{"DON", "'", "T"}));
  EXPECT_EQ(lex(std::string(100, 'q') + "1"), (Pieces{std::string(100, 'q'), "1"}));
}

// Every length around the eight- and sixteen-letter steps of the fast path, at every distance from
// the end.
TEST(SplitLexer, WordsOfEveryLength) {
  for (std::size_t letters = 1; letters < 40; ++letters) {
    for (std::size_t rest = 0; rest < 40; ++rest) {
      const std::string word = " " + std::string(letters, 'k');
      const std::string tail(rest, '!');
      EXPECT_EQ(lex(word + tail), rest > 0 ? (Pieces{word, tail}) : (Pieces{word}));
      EXPECT_EQ(lex(word + "\u00E9" + tail).front(), word + "\u00E9");
      const std::string cased = " K" + word.substr(1) + "Q";
      EXPECT_EQ(pieces_of(SplitLexer<kO200kRules>(cased + tail)).front(),
                cased.substr(0, cased.size() - 1));
    }
  }
}

TEST(SplitLexer, CaseAndContractionsByHand) {
  EXPECT_EQ(pieces_of(SplitLexer<kO200kRules>("HELLOworldHi DON'T \u4E2DA it'\u017F 12345//\n/\n")),
            (Pieces{"HELLOworld", "Hi", " DON'T", " \u4E2D", "A", " it'\u017F", " ", "123", "45",
                    "//\n/\n"}));
  EXPECT_EQ(pieces_of(SplitLexer<kCl100kRules>("I'LL (see)\n\n  it")),
            (Pieces{"I", "'LL", " (", "see", ")\n\n", " ", " it"}));
}

TEST(SplitLexer, InvalidUtf8NamesTheByte) {
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

}  // namespace split_lexer_test
}  // namespace mpitron::tokenizers
