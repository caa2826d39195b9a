#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace tests_test {

using test::expect_rendered;

TEST(TemplateTests, Hold) {
  expect_rendered({
      {"{{ n is odd }}{{ n is even }}{{ neg is odd }}{{ n is divisibleby 7 }}{{ n is "
       "divisibleby(2) }}{{ s is string }}{{ n is number }}{{ x is number }}{{ d is mapping }}{{ l "
       "is iterable }}{{ s is iterable }}{{ n is iterable }}{{ l is sequence }}",
       "TrueFalseTrueTrueFalseTrueTrueTrueTrueTrueTrueFalseTrue"},
      {"{{ nil is none }}{{ zz is defined }}{{ s is defined }}{{ zz is undefined }}{{ t is true "
       "}}{{ n is true }}{{ t is boolean }}{{ false is false }}{{ n is integer }}{{ t is integer "
       "}}{{ x is float }}{{ range is callable }}",
       "TrueFalseTrueTrueTrueFalseTrueTrueTrueFalseTrueTrue"},
      {"{{ n is eq 7 }}{{ n is equalto 8 }}{{ n is ne 7 }}{{ 3 is gt 2 }}{{ 3 is ge(3) }}{{ 3 is "
       "lessthan 2 }}{{ 3 is le 3 }}{{ n is in [7, 8] }}{{ n is not in [7, 8] }}{{ n is sameas 7 "
       "}}{{ 1 is sameas true }}{{ s is lower }}{{ 'a' is lower }}{{ 'A' is upper }}{{ 'trim' is "
       "filter }}{{ 'odd' is test }}",
       "TrueFalseFalseTrueTrueFalseTrueTrueFalseTrueFalseFalseTrueTrueTrueTrue"},
      {"{{ s is odd }}", "! chat template, line 1: an integer is wanted, not str"},
      {"{{ n is divisibleby 0 }}", "! chat template, line 1: integer division or modulo by zero"},
      {"{{ n is eq }}", "! chat template, line 1: a test() missing a required argument: 'other'"},
  });
}

}  // namespace tests_test
}  // namespace mpitron::tokenizers::jinja
