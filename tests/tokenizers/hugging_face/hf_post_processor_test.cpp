#include <gtest/gtest.h>

#include "tokenizers/hugging_face/hf_steps.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace hf_post_processor_test {

HfPostProcessor make(const std::string& json) {
  const JsonDocument document(json);
  return make_hf_post_processor(document.root());
}

TEST(HfPostProcessor, EndsOfATemplate) {
  const auto ends = make(R"({"type":"Sequence","processors":[{"type":"ByteLevel"},
      {"type":"TemplateProcessing",
       "single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
                 {"SpecialToken":{"id":"</s>","type_id":0}}],
       "special_tokens":{"<s>":{"ids":[1,4]},"</s>":{"ids":[2]}}}]})");
  EXPECT_EQ(ends.before, (TokenIds{1, 4}));
  EXPECT_EQ(ends.after, (TokenIds{2}));
}

TEST(HfPostProcessor, BertAndNothing) {
  const auto ends = make(R"({"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]})");
  EXPECT_EQ(ends.before, (TokenIds{2}));
  EXPECT_EQ(ends.after, (TokenIds{3}));
  EXPECT_TRUE(make("null").before.empty());
}

TEST(HfPostProcessor, RefusesOtherTemplates) {
  EXPECT_THROW(make(R"({"type":"TemplateProcessing","single":[{"Sequence":{"id":"B"}}]})"), Error);
  EXPECT_THROW(make(R"({"type":"Other"})"), Error);
}

}  // namespace hf_post_processor_test
}  // namespace mpitron::tokenizers
