#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace expression_parser_test {

using test::expect_rendered;

TEST(ExpressionParser, BindsAsJinja) {
  expect_rendered({
      {R"({{ 0x1F }} {{ 1_000 }} {{ 0b11 }} {{ 1.5e3 }} {{ 'a' 'b' }} {{ {'a': 1,}.a }} {{ [1, 2,] }} {{ (1, 2,) }} {{ 'a\d' }} {{ 'a\\d' }} {{ 'a\u00e4\x41\101' }} {{ "q\"q" }} {{ 'it\'s' }})",
       R"(31 1000 3 1500.0 ab 1 [1, 2] (1, 2) a\d a\d aäAA q"q it's)"},
      {"{{ l | sort | join('') }} {{ messages | length == 3 }} {{ range(3) | map('string') | list "
       "is sequence }}",
       "123 True True"},
      {"{{ s[ }}", "! chat template, line 1: unexpected '}', expected ']'"},
      {"{{ s",
       "! chat template, line 1: expected token 'end of print statement', got 'end of template'"},
      {"{{ 1 2 }}", "! chat template, line 1: expected token 'end of print statement', got '2'"},
      {"{{ s | nofilter }}", "! chat template, line 1: No filter named 'nofilter'."},
      {"{{ s is notest }}", "! chat template, line 1: No test named 'notest'."},
      {"{{ n is odd is even }}",
       "! chat template, line 1: You cannot chain multiple tests with is"},
      {"{{ range(a=1, 2) }}",
       "! chat template, line 1: invalid syntax for function call expression"},
      {"{{ l. }}", "! chat template, line 1: expected name or number"},
      {"{{ }}", "! chat template, line 1: unexpected 'end of print statement'"},
  });
}

}  // namespace expression_parser_test
}  // namespace mpitron::tokenizers::jinja
