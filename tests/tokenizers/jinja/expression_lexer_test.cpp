#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace expression_lexer_test {

using test::expect_rendered;

TEST(ExpressionLexer, ReadsNumbersOfAllBases) {
  expect_rendered({
      {"{{ 0x1F }} {{ 0o17 }} {{ 0b101 }} {{ 1_000 }}", "31 15 5 1000"},
      {"{{ 1.5 }} {{ 2e3 }} {{ 1e-2 }}", "1.5 2000.0 0.01"},
      {"{{ [[7, 8]].0.1 }}", "8"},
  });
}

TEST(ExpressionLexer, RefusesOtherWords) {
  expect_rendered({
      {"{{ 'abc }}", "! chat template, line 1: unexpected char ' at 3"},
      {"{{ 1 ! 2 }}", "! chat template, line 1: unexpected char '!' at 5"},
      {"{{ (1 }}", "! chat template, line 1: unexpected '}', expected ')'"},
      {"{{ 1) }}", "! chat template, line 1: unexpected ')'"},
      {"{{ {1 ]}} ", "! chat template, line 1: unexpected ']', expected '}'"},
      {"{{ 012 }}", "! chat template, line 1: the number 012 is not available"},
      {"{{ 99999999999999999999 }}",
       "! chat template, line 1: the number 99999999999999999999 is not available"},
      {R"({{ '\N{DOT}' }})", "! chat template, line 1: a text has an escape that is not available"},
  });
}

}  // namespace expression_lexer_test
}  // namespace mpitron::tokenizers::jinja
