#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/corpus.h"
#include "tokenizers/core/tokenizer.h"
#include "tokenizers/families_folder.h"
#include "tokenizers/make_tokenizer.h"
#include "utils/text/utf8.h"

// Every folder of tokenizer/families is one tokenizer with the ids and texts that the reference
// programs (sentencepiece, tokenizers, and BERT's Python code) give for all of texts.json.

namespace mpitron::tokenizers {
namespace tokenizer_families_test {

using Json = nlohmann::json;

std::filesystem::path families_dir() {
  return families_folder();
}

Json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return Json::parse(stream);
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  if (std::filesystem::exists(families_dir())) {
    for (const auto& entry : std::filesystem::directory_iterator(families_dir())) {
      if (entry.is_directory()) {
        names.push_back(entry.path().filename());
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Families : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string path_of(const Json& spec, const char* key) {
    const std::string name = spec.value(key, "");
    return name.empty() ? "" : (families_dir() / GetParam() / name).string();
  }

  Json spec_ = read_json(families_dir() / GetParam() / "case.json");
  std::vector<std::string> texts_ = read_json(families_dir() / "texts.json");
  std::unique_ptr<Tokenizer> tokenizer_ =
      make_tokenizer({.type = spec_["type"],
                      .vocab_file = path_of(spec_, "vocab_file"),
                      .tokenizer_model = path_of(spec_, "model"),
                      .vocab_extra_ids = spec_.value("vocab_extra_ids", 0)});
};

TEST_P(Families, EncodesAsTheReference) {
  const auto cache = tokenizer_->make_cache();
  for (int round = 0; round < 2; ++round) {  // the second one finds its words in the cache
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (spec_["ids"][i].is_null()) {
        continue;  // characters of a later Unicode than ours
      }
      TokenIds ids;
      tokenizer_->encode(texts_[i], *cache, ids);
      EXPECT_EQ(ids, spec_["ids"][i].get<TokenIds>()) << i << ": " << texts_[i];
    }
  }
}

TEST_P(Families, DecodesAsTheReference) {
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (spec_["ids"][i].is_null()) {
      continue;
    }
    const std::string expected = spec_["decoded"][i];
    // Ours gives the bytes of a cut character, the reference U+FFFD.
    const std::string decoded = tokenizer_->decode(spec_["ids"][i].get<TokenIds>());
    if (replace_invalid_utf8(decoded) == decoded) {
      EXPECT_EQ(decoded, expected) << i << ": " << texts_[i];
    }
  }
}

TEST_P(Families, KnowsItsSizeAndItsFiles) {
  if (spec_.contains("vocab_size")) {
    EXPECT_EQ(tokenizer_->vocab_size(), spec_["vocab_size"].get<Index>());
  }
  EXPECT_EQ(tokenizer_->name(), spec_["type"].get<std::string>());
  EXPECT_GE(tokenizer_->eod(), 0);
  EXPECT_LT(tokenizer_->eod(), tokenizer_->vocab_size());
  EXPECT_FALSE(tokenizer_->files().empty());
  for (const auto& file : tokenizer_->files()) {
    EXPECT_TRUE(std::filesystem::is_regular_file(file)) << file;
  }
  EXPECT_THROW(tokenizer_->decode(TokenIds{static_cast<TokenId>(tokenizer_->vocab_size())}), Error);
}

TEST_P(Families, RefusesInvalidUtf8) {
  EXPECT_THROW(tokenizer_->encode("fine \xFF not fine"), Error);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Families);
INSTANTIATE_TEST_SUITE_P(Golden, Families, ::testing::ValuesIn(family_names()),
                         [](const auto& info) { return info.param; });

}  // namespace tokenizer_families_test
}  // namespace mpitron::tokenizers
