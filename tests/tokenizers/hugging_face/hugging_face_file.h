#pragma once

#include <fstream>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/families_folder.h"
#include "tokenizers/hugging_face/huggingface_tokenizer.h"

// A tokenizer.json of a test's own, and those of the recorded families.

namespace mpitron::tokenizers {

inline std::filesystem::path family(const std::string& name) {
  return families_folder() / name;
}

class HuggingFaceFile : public ::testing::Test {
 protected:
  std::string message_for(const std::string& json) {
    std::ofstream(folder_ / "tokenizer.json") << json;
    return test::message_of([&] { HuggingFaceTokenizer tokenizer(folder_.path()); });
  }
  void expect_message(const std::string& json, const std::string& part) {
    const std::string message = message_for(json);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  test::TemporaryFolder folder_;
};

}  // namespace mpitron::tokenizers
