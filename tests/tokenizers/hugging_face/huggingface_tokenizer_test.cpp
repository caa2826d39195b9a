#include "tokenizers/hugging_face/huggingface_tokenizer.h"

#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "tokenizers/families_folder.h"
#include "tokenizers/hugging_face/hugging_face_file.h"
#include "utils/system/files.h"

namespace mpitron::tokenizers {
namespace huggingface_tokenizer_test {

// Changed files are refused with an Error or make a tokenizer that works; nothing else happens.
TEST_F(HuggingFaceFile, SurvivesMutations) {
  std::mt19937 random(23);
  for (const char* name : {"hf_gpt2", "hf_bert", "hf_unigram_bytes", "hf_llama2", "hf_mixed"}) {
    const std::string good = read_file(family(name) / "tokenizer.json");
    for (int round = 0; round < 25; ++round) {
      std::string json = good;
      for (std::size_t i = 1 + random() % 3; i > 0; --i) {
        const std::size_t span = random() % 2 == 0 ? 2000 : json.size();
        const std::size_t at = random() % std::min(span, json.size());
        switch (random() % 4) {
          case 0:
            json[at] = static_cast<char>(random());
            break;
          case 1:
            json.erase(at, 1 + random() % 20);
            break;
          case 2:
            json.insert(at, json.substr(random() % json.size(), random() % 30));
            break;
          default:
            json[at] = "0123456789\"{}[],:tf"[random() % 19];
        }
      }
      std::ofstream(folder_ / "tokenizer.json") << json;
      try {
        const HuggingFaceTokenizer tokenizer(folder_.path());
        tokenizer.decode(tokenizer.encode("some text  with <s> and ab 123 \u00e9\u4e2d"));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::data);
      }
    }
  }
}

}  // namespace huggingface_tokenizer_test

}  // namespace mpitron::tokenizers
