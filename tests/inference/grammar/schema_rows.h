#pragma once

#include <gtest/gtest.h>

#include "inference/grammar/grammar_walk.h"
#include "inference/grammar/schema_compiler.h"

// Schemas with texts that they allow and others.

namespace mpitron::inference {

struct Row {
  const char* schema;
  std::vector<std::string> inside, outside;
};

inline void expect(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    test::Language language = test::Language::schema(row.schema);
    for (const std::string& text : row.inside) {
      EXPECT_TRUE(language.has(text)) << row.schema << " " << text;
    }
    for (const std::string& text : row.outside) {
      EXPECT_FALSE(language.has(text)) << row.schema << " " << text;
    }
  }
}

}  // namespace mpitron::inference
