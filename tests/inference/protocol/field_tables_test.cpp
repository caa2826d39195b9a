#include <set>

#include <gtest/gtest.h>

#include "inference/protocol/fields.h"

namespace mpitron::inference {
namespace field_tables_test {

TEST(FieldTables, HaveOneRowForEachField) {
  for (FieldRules (*table)() :
       {completion_fields, chat_fields, tokenize_fields, detokenize_fields, megatron_fields}) {
    std::set<std::string> names;
    for (const FieldRule& rule : table()) {
      EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
      EXPECT_LE(rule.least, rule.most) << rule.name;
      EXPECT_EQ(rule.help[0] == '\0', rule.type == FieldType::absent) << rule.name;
    }
  }
}

/// The reader of Megatron's protocol needs the text of every row but the prompts'.
TEST(FieldTables, HaveTheReferencesTexts) {
  for (const FieldRule& rule : megatron_fields()) {
    EXPECT_EQ(rule.wrong == nullptr, rule.required) << rule.name;
  }
}

}  // namespace field_tables_test
}  // namespace mpitron::inference
