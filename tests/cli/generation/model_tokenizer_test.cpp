#include "cli/generation/model_tokenizer.h"

#include <gtest/gtest.h>

#include "support/foreign_files.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::cli {
namespace model_tokenizer_test {

std::string refused(const std::string& folder, const tokenizers::TokenizerOptions& options,
                    const std::optional<config::TokenizerConfig>& trained_with) {
  try {
    model_tokenizer(folder, options, trained_with);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "made";
}

TEST(ModelTokenizer, IsTheOptionsOrTheRuns) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path().string();
  config::TokenizerConfig null;
  null.tokenizer_type = config::TokenizerType::null;
  null.vocab_size = 63;
  EXPECT_EQ(model_tokenizer(path, {.type = ""}, null)->vocab_size(), 64);
  EXPECT_EQ(model_tokenizer(path, {.type = "NullTokenizer", .vocab_size = 5}, null)->vocab_size(),
            6);
  EXPECT_NE(refused(path, {.type = ""}, {}).find("--tokenizer-type is missing: "),
            std::string::npos);
}

TEST(ModelTokenizer, NamesTheFileThatHasMoved) {
  config::TokenizerConfig pairs;
  pairs.tokenizer_type = config::TokenizerType::gpt2_bpe;
  pairs.vocab_file = "gone/vocab.json";
  pairs.merge_file = "gone/merges.txt";
  EXPECT_EQ(refused("saved", {.type = ""}, pairs),
            "--vocab-file is missing: saved was trained with gone/vocab.json, which is not here");
  EXPECT_EQ(refused("saved", {.type = "", .vocab_file = "vocab.json"}, pairs),
            "--merge-file is missing: saved was trained with gone/merges.txt, which is not here");
}

}  // namespace model_tokenizer_test
}  // namespace mpitron::cli
