// Damaged vocabulary files either load, and then encode and decode without trouble, or are refused
// with a message. Suites named Fuzz run longer in continuous integration (support/fuzz.h).
#include <fstream>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/fuzz.h"
#include "tokenizers/bpe/bpe_model.h"
#include "tokenizers/bpe/tik_tokenizer.h"
#include "tokenizers/families_folder.h"
#include "tokenizers/hugging_face/huggingface_tokenizer.h"
#include "tokenizers/make_tokenizer.h"
#include "tokenizers/sentencepiece/sentencepiece_tokenizer.h"
#include "tokenizers/tiktoken_samples.h"
#include "utils/system/files.h"

namespace mpitron::tokenizers {
namespace vocabulary_fuzz_test {

using test::FuzzLength;

constexpr std::string_view kText =
    "a bad face\n\ndead 1234 caf\u00E9 \u4E16\u754C abcdefgh <sep> I'm  ";

/// Byte-level BPE loses nothing, whatever its vocabulary is.
void fuzz_bpe(const std::string& file, const TokenizerOptions& options, const FuzzLength& length) {
  const std::string whole = read_file(file);
  test::fuzz({whole}, length, [&](const std::string& content) {
    test::write_bytes(file, content);
    const auto tokenizer = make_tokenizer(options);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(kText)), kText) << content;
  });
  test::write_bytes(file, whole);
}

class BpeFiles : public ::testing::Test {
 protected:
  BpeFiles() {
    BpeModel model = bpe_model_of_ranks(sample_ranks(), 0);
    model.eod = static_cast<TokenId>(model.tokens.size());
    model.tokens.emplace_back(kEndOfText);
    save_bpe_model(model, options_.vocab_file, options_.merge_file);
  }
  const test::TemporaryFolder folder_;
  const TokenizerOptions options_{.vocab_file = folder_ / "vocab.json",
                                  .merge_file = folder_ / "merges.txt"};
};

TEST_F(BpeFiles, DamagedVocabulary) {
  fuzz_bpe(options_.vocab_file, options_, {.rounds = 300});
}

using Fuzz = BpeFiles;

TEST_F(Fuzz, MergeFile) {
  fuzz_bpe(options_.merge_file, options_, FuzzLength::of_ci(300));
}

TEST_F(Fuzz, TokenizerJson) {
  std::vector<std::string> definitions;
  for (const char* name : {"hf_bert", "hf_gpt2", "hf_llama2", "hf_llama3", "hf_metaspace_bpe",
                           "hf_mixed", "hf_qwen2", "hf_unigram_bytes", "hf_wordlevel"}) {
    definitions.push_back(read_file(families_folder() / name / "tokenizer.json"));
  }
  test::fuzz(definitions, FuzzLength::of_ci(300), [&](const std::string& definition) {
    test::write_bytes(folder_ / "tokenizer.json", definition);
    const HuggingFaceTokenizer tokenizer(folder_ / "tokenizer.json");
    tokenizer.decode(tokenizer.encode(kText));
  });
}

TEST_F(Fuzz, SentencePieceModel) {
  std::vector<std::string> models;
  for (const char* name : {"sp_bpe_llama", "sp_bpe_user", "sp_unigram_identity", "sp_unigram_nfkc",
                           "sp_unigram_suffix"}) {
    models.push_back(read_file(families_folder() / name / "tokenizer.model"));
  }
  test::fuzz(models, FuzzLength::of_ci(200), [&](const std::string& model) {
    test::write_bytes(folder_ / "x.model", model);
    const SentencePieceTokenizer tokenizer(folder_ / "x.model", SentencePieceTokenizer::Kind::plain,
                                           2);
    tokenizer.decode(tokenizer.encode(kText));
  });
}

TEST(DamagedTiktoken, LosesNoText) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> ranks = sample_ranks();
  test::write_bytes(folder / "v.json", tiktoken_json(ranks));
  test::write_bytes(folder / "v.tiktoken", tiktoken_lines(ranks));
  for (const std::string name : {"v.json", "v.tiktoken"}) {
    const TokenizerOptions options{
        .type = "TikTokenizer", .tokenizer_model = folder / name, .tiktoken_pattern = "cl100k"};
    fuzz_bpe(options.tokenizer_model, options, {.rounds = 300});
  }
}

}  // namespace vocabulary_fuzz_test
}  // namespace mpitron::tokenizers
