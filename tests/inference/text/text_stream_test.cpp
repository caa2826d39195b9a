#include "inference/text/text_stream.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace text_stream_test {

/// An id is a byte.
class Bytes : public tokenizers::Tokenizer {
 public:
  std::string_view name() const override { return "Bytes"; }
  tokenizers::TokenizerIdentity identity() const override { return {}; }
  std::string fingerprint() const override { return {}; }
  Index vocab_size() const override { return 256; }
  TokenId eod() const override { return 0; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  void encode(std::string_view text, Cache&, TokenIds& ids) const override {
    for (const char byte : text) {
      ids.push_back(static_cast<unsigned char>(byte));
    }
  }
  std::string decode(std::span<const TokenId> ids) const override {
    return {ids.begin(), ids.end()};
  }
};

std::vector<std::string> settled(std::string_view text, StopTexts stop) {
  const Bytes tokenizer;
  TextStream stream(tokenizer, TokenIds{'a'}, std::move(stop));
  std::vector<std::string> steps;
  for (const char byte : text) {
    const bool ended = stream.push(static_cast<unsigned char>(byte));
    steps.push_back(stream.text().substr(0, stream.settled()));
    if (ended) {
      break;
    }
  }
  stream.finish();
  steps.push_back(stream.text());
  return steps;
}

using Steps = std::vector<std::string>;

TEST(TextStream, SendsWholeCharacters) {
  EXPECT_EQ(settled("x\xC3\xA4y", {}), (Steps{"x", "x", "x\xC3\xA4", "x\xC3\xA4y", "x\xC3\xA4y"}));
  EXPECT_EQ(settled("x\xE2\x82", {}).back(), "x\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TextStream, HoldsBackWhatMayBecomeAStopText) {
  EXPECT_EQ(settled("abENx", {.before = {"END"}}),
            (Steps{"a", "ab", "ab", "ab", "abENx", "abENx"}));
  EXPECT_EQ(settled("abENDx", {.before = {"END"}}), (Steps{"a", "ab", "ab", "ab", "ab", "ab"}));
  EXPECT_EQ(settled("abEN", {.before = {"END"}}).back(), "abEN");
}

TEST(TextStream, TakesTheEarliestStopText) {
  EXPECT_EQ(settled("one two", {.before = {"two", "ne"}}).back(), "o");
}

TEST(TextStream, KeepsTheTokenThatEndsALine) {
  EXPECT_EQ(settled("ab\ncd", {.after = {"\n"}}).back(), "ab\n");
  EXPECT_EQ(settled("ab\nc\n\nd", {.after = {"\n\n"}}).back(), "ab\nc\n\n");
}

TEST(TextStream, DecodesALongTextAsAtOnce) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += i % 3 == 0 ? "\xF0\x9F\x98\x80" : "ab\xC3\xA9";
  }
  EXPECT_EQ(settled(text, {}).back(), text);
}

}  // namespace text_stream_test
}  // namespace mpitron::inference
