#include <gtest/gtest.h>

#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"
#include "tokenizers/core/null_tokenizer.h"
#include "tokenizers/word_piece/bert_tokenizer.h"
#include "train/checkpointing/load_differences.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace tokenizer_files_test {

using Files = std::map<std::string, std::string>;

TEST(TokenizerFiles, AreThoseThatItRead) {
  EXPECT_EQ(tokenizer_files(tokenizers::NullTokenizer(9)), Files{});
  const test::TemporaryFolder folder;
  const std::filesystem::path vocab = folder.path() / "vocab.txt";
  const std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n";
  AtomicFile file(vocab);
  file.write(words);
  file.commit();
  const tokenizers::BertTokenizer tokenizer(vocab, {.lower_case = true});
  EXPECT_EQ(tokenizer_files(tokenizer), (Files{{"vocab.txt", words}}));
}

class OtherTokenizer : public ::testing::Test {
 protected:
  /// Whether a run with these files may go on from a checkpoint with those.
  bool passes(const Files& kept, const Files& files) const {
    const std::filesystem::path path = folder_.path() / "checkpoint.h5";
    checkpoint::create_file(path, {.files = kept}, {});
    checkpoint::seal_file(path, {});
    const checkpoint::File file(path);
    refuse_other_tokenizer(file, files, true);
    try {
      refuse_other_tokenizer(file, files, false);
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      const std::string text = error.what();
      EXPECT_NE(text.find("checkpoint.h5"), std::string::npos);
      for (const auto& [name, bytes] : files) {
        EXPECT_NE(text.find(name), std::string::npos) << text;
      }
      return false;
    }
  }
  const test::TemporaryFolder folder_;
};

TEST_F(OtherTokenizer, ItsBytesCountAndNotItsNames) {
  EXPECT_TRUE(passes({}, {{"merges.txt", "a b"}}));
  EXPECT_TRUE(passes({{"merges.txt", "a b"}}, {{"merges.txt", "a b"}}));
  EXPECT_TRUE(passes({{"merges.txt", "a b"}}, {{"mine.txt", "a b"}}));
  EXPECT_FALSE(passes({{"merges.txt", "a b"}}, {{"merges.txt", "a c"}}));
  EXPECT_FALSE(passes({{"merges.txt", "a b"}}, {}));
  EXPECT_FALSE(passes({{"merges.txt", "a b"}}, {{"merges.txt", "a b"}, {"vocab.json", "{}"}}));
}

TEST_F(OtherTokenizer, AConvertedModelKeepsMoreFiles) {
  const Files kept{{"config.json", "{}"}, {"merges.txt", "a b"}, {"tokenizer.json", "{ }"}};
  EXPECT_TRUE(passes(kept, {{"merges.txt", "a b"}}));
  EXPECT_TRUE(passes(kept, {}));
  EXPECT_FALSE(passes(kept, {{"merges.txt", "a c"}}));
}

}  // namespace tokenizer_files_test
}  // namespace mpitron::train
