#include "tokenizers/text/base64.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace base64_test {

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

}  // namespace base64_test
}  // namespace mpitron::tokenizers
