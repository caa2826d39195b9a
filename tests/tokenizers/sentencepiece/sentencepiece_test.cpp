#include "tokenizers/sentencepiece/sentencepiece.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/families_folder.h"
#include "utils/text/utf8.h"

// Fuzzed texts against the library's own program spm_encode, where it is installed (Debian:
// sentencepiece).

namespace mpitron::tokenizers {
namespace sentencepiece_test {

std::filesystem::path family(const std::string& name) {
  return families_folder() / name / "tokenizer.model";
}

// One line: words of several alphabets, runs of spaces, symbols of the models, rare characters.
std::string random_line(std::mt19937& random, std::size_t words) {
  static const std::vector<std::string> kParts{"the",
                                               "token",
                                               "model",
                                               "Training",
                                               "ing",
                                               "<sep>",
                                               "foo_",
                                               "ab",
                                               " ",
                                               "  ",
                                               "   ",
                                               ".",
                                               "1234",
                                               "été",
                                               "ÄÖ",
                                               "ﬁ",
                                               "①",
                                               "中文",
                                               "日本",
                                               "привет",
                                               "ий",
                                               "한국어",
                                               "👩‍👩‍👧",
                                               "𝒳",
                                               "e\u0301",
                                               "\u3000",
                                               "\u00a0",
                                               "x",
                                               "(y)",
                                               "▁"};
  std::string line;
  for (std::size_t i = 0; i < words; ++i) {
    line += kParts[random() % kParts.size()];
    line += random() % 3 == 0 ? " " : "";
    if (random() % 20 == 0) {
      append_utf8(0x21 + random() % 0x3000, line);
    }
  }
  return line;
}

class AgainstTheLibrary : public ::testing::TestWithParam<std::string> {};

TEST_P(AgainstTheLibrary, EncodesFuzzedTexts) {
  if (!std::filesystem::exists(family(GetParam()))) {
    GTEST_SKIP() << "no reference model";
  }
  if (std::system("spm_encode --help > /dev/null 2>&1") != 0 &&
      std::system("command -v spm_encode > /dev/null") != 0) {
    GTEST_SKIP() << "spm_encode is not installed";
  }
  const test::TemporaryFolder folder;
  std::mt19937 random(5);
  std::vector<std::string> lines;
  std::ofstream file(folder / "text");
  for (int i = 0; i < 1500; ++i) {
    // Long lines make the sums large, where rounding decides between near ties.
    lines.push_back(random_line(random, i % 300 == 0 ? 4000 : 1 + random() % 60));
    file << lines.back() << '\n';
  }
  file.close();
  const std::string command =
      "spm_encode --output_format=id --model=" + family(GetParam()).string() + " < " +
      (folder / "text") + " > " + (folder / "ids") + " 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const SentencePiece pieces(load_sentencepiece_model(family(GetParam())));
  SentencePiece::Cache cache;
  std::ifstream expected(folder / "ids");
  for (const std::string& line : lines) {
    std::string row;
    ASSERT_TRUE(std::getline(expected, row));
    TokenIds ids;
    pieces.encode(line, cache, ids);
    std::ostringstream text;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      text << (i > 0 ? " " : "") << ids[i];
    }
    ASSERT_EQ(text.str(), row) << line.substr(0, 200);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, AgainstTheLibrary,
                         ::testing::Values("sp_unigram_nfkc", "sp_unigram_identity",
                                           "sp_unigram_suffix", "sp_bpe_llama", "sp_bpe_user"),
                         [](const auto& info) { return info.param; });

TEST(SentencePiece, LongTextsWithoutSpaces) {
  for (const char* name : {"sp_unigram_nfkc", "sp_bpe_llama"}) {
    const SentencePiece pieces(load_sentencepiece_model(family(name)));
    SentencePiece::Cache cache;
    TokenIds ids;
    const std::string text(300000, 'a');
    pieces.encode(text, cache, ids);
    EXPECT_EQ(pieces.decode(ids), text);
  }
}

}  // namespace sentencepiece_test
}  // namespace mpitron::tokenizers
