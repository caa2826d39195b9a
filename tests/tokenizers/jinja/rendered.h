#pragma once
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "tokenizers/jinja/template.h"
#include "utils/error.h"

namespace mpitron::test {

/// Variables of the templates in these tests.
inline constexpr std::string_view kTemplateVariables = R"({
  "messages": [{"role": "system", "content": " Be brief. "},
               {"role": "user", "content": "Grüße, \"x\"\n y", "name": "Bob"},
               {"role": "assistant", "content": null,
                "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "b": [1, 2.5]}}}]}],
  "tools": [{"function": {"name": "find", "parameters": {"z": 1, "a": "ä"}}}],
  "bos_token": "<s>", "n": 7, "x": 3.5, "s": "hello World", "e": "", "l": [3, 1, 2],
  "d": {"b": 1, "a": 2, "C": 3}, "t": true, "nil": null, "neg": -7, "words": ["b", "A", "c"]})";

/// What a template writes with them; "! " and the message where it fails.
inline std::string rendered(std::string_view text) {
  namespace jinja = tokenizers::jinja;
  try {
    const jinja::Template made(text);
    return made.render(jinja::value_of_json(kTemplateVariables), {.now = 1'700'050'000}).text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    return std::string("! ") + error.what();
  }
}

struct RenderedCase {
  const char* text;
  const char* expected;  // as jinja2 3.1 writes it
};

inline void expect_rendered(std::initializer_list<RenderedCase> cases) {
  for (const RenderedCase& each : cases) {
    EXPECT_EQ(rendered(each.text), each.expected) << each.text;
  }
}

}  // namespace mpitron::test
