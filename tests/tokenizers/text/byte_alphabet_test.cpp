#include "tokenizers/text/byte_alphabet.h"

#include <set>

#include <gtest/gtest.h>

namespace mpitron::tokenizers {

namespace byte_alphabet_test {

TEST(ByteAlphabet, KnownStandIns) {
  EXPECT_EQ(bytes_to_alphabet(" a\n"), "\u0120a\u010A");
  EXPECT_EQ(bytes_to_alphabet(std::string(1, '\0')), "\u0100");
  EXPECT_EQ(bytes_to_alphabet("\xAD\x7F\xA0"), "\u0143\u0121\u0142");
}

TEST(ByteAlphabet, EveryByteComesBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  EXPECT_EQ(alphabet_to_bytes(bytes_to_alphabet(all)), all);
}

TEST(ByteAlphabet, AddedTokensStandForThemselves) {
  EXPECT_EQ(alphabet_to_bytes("<|end of\u4E2D|>"), "<|end of\u4E2D|>");
}

TEST(ByteAlphabet, VocabularyOrderIsGpt2s) {
  const auto order = bytes_in_vocabulary_order();
  ASSERT_EQ(order.size(), 256U);
  EXPECT_EQ(order[0], '!');
  EXPECT_EQ(order[188], 0);
  EXPECT_EQ(order[198], '\n');
  EXPECT_EQ(order[220], ' ');
  EXPECT_EQ(std::set(order.begin(), order.end()).size(), 256U);
}

TEST(Base64, VectorsOfRfc4648) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(decode_base64("+/8A"), std::string("\xFB\xFF\0", 3));
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text :
       {"Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Zm9-", "Z g=", "=Zg="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace byte_alphabet_test

}  // namespace mpitron::tokenizers
