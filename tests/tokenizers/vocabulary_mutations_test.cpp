// Vocabulary files with random damage either load, and then lose no text, or are refused with a
// message. MPITRON_FUZZ_SECONDS sets how long each case runs (1 s).
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/bpe_model.h"
#include "tokenizers/tik_tokenizer.h"
#include "tokenizers/tiktoken_file.h"
#include "tokenizers/tiktoken_samples.h"
#include "utils/error.h"
#include "utils/files.h"

namespace mpitron::tokenizers {
namespace {

using Load = std::function<std::unique_ptr<Tokenizer>()>;

constexpr std::string_view kText = "a bad face\n\ndead 1234 caf\u00E9 \u4E16\u754C abcdefgh";

double fuzz_seconds() {
  const char* seconds = std::getenv("MPITRON_FUZZ_SECONDS");
  return seconds != nullptr ? std::atof(seconds) : 1.0;
}

// One to four bytes, runs or lines replaced, removed, doubled or put in from elsewhere.
std::string damaged(std::string content, std::mt19937_64& random) {
  for (std::size_t n = 1 + random() % 4; n > 0 && !content.empty(); --n) {
    const std::size_t at = random() % content.size();
    const std::size_t size = std::min<std::size_t>(1 + random() % 12, content.size() - at);
    switch (random() % 6) {
      case 0:
        content[at] = static_cast<char>(random());
        break;
      case 1:
        content.erase(at, size);
        break;
      case 2:
        content.insert(at, content.substr(at, size));
        break;
      case 3:
        content.insert(at, content.substr(random() % content.size(), size));
        break;
      case 4:
        content[at] = "0123456789\"{}[]:,= \n\\"[random() % 21];
        break;
      default:
        content.resize(random() % 20 == 0 ? at : content.size());
    }
  }
  return content;
}

// Returns how many damaged files were refused, and how many loaded.
std::pair<int, int> run(const std::string& file, const Load& load) {
  const std::string whole = read_file(file);
  std::mt19937_64 random(23);
  int refused = 0;
  int loaded = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(fuzz_seconds());
  while (std::chrono::steady_clock::now() < end) {
    const std::string content = damaged(whole, random);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    try {
      const auto tokenizer = load();
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(kText)), kText) << content;
      ++loaded;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data) << error.what();
      EXPECT_NE(std::string(error.what()), "");
      ++refused;
    }
    if (testing::Test::HasFailure()) {
      break;
    }
  }
  return {refused, loaded};
}

void expect_both(const std::pair<int, int>& refused_and_loaded) {
  EXPECT_GT(refused_and_loaded.first, 10);
  EXPECT_GT(refused_and_loaded.second, 0);
}

TEST(VocabularyMutations, Tiktoken) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> ranks = sample_ranks();
  std::ofstream(folder / "v.json") << tiktoken_json(ranks);
  std::ofstream(folder / "v.tiktoken") << tiktoken_lines(ranks);
  for (const std::string name : {"v.json", "v.tiktoken"}) {
    const TokenizerOptions options{
        .type = "TikTokenizer", .tokenizer_model = folder / name, .tiktoken_pattern = "cl100k"};
    expect_both(run(options.tokenizer_model, [&] { return make_tokenizer(options); }));
  }
}

TEST(VocabularyMutations, VocabularyAndMerges) {
  const test::TemporaryFolder folder;
  BpeModel model = bpe_model_of_ranks(sample_ranks(), 0);
  model.eod = static_cast<TokenId>(model.tokens.size());
  model.tokens.emplace_back(kEndOfText);
  save_bpe_model(model, folder / "vocab.json", folder / "merges.txt");
  const TokenizerOptions options{.vocab_file = folder / "vocab.json",
                                 .merge_file = folder / "merges.txt"};
  const std::string vocabulary = read_file(options.vocab_file);
  expect_both(run(options.vocab_file, [&] { return make_tokenizer(options); }));
  std::ofstream(options.vocab_file) << vocabulary;
  expect_both(run(options.merge_file, [&] { return make_tokenizer(options); }));
}

}  // namespace
}  // namespace mpitron::tokenizers
