#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace operator_parser_test {

using test::expect_rendered;

TEST(OperatorParser, BindsAsJinja) {
  expect_rendered({
      {"{{ 'x' if t else 'y' }}{{ 'x' if e }}{{ 'a' if 1 if 0 else 'c' }}{{ ('a' if 0) ~ 'b' }}",
       "xcb"},
      {"{{ not t }} {{ t and n }} {{ e or 'q' }} {{ not 1 == 2 }} {{ not (1 in l) }} {{ -2 | abs "
       "}} {{ -2 ** 2 }} {{ 2 ** 3 ** 2 }} {{ 10 - 2 - 3 }} {{ 2 * 3 % 4 }} {{ '1' ~ 2 + 3 }} {{ 1 "
       "+ 2 ~ 3 }} {{ s ~ n ~ nil ~ zz }}",
       R"(! chat template, line 1: can only concatenate str (not "int") to str)"},
  });
}

}  // namespace operator_parser_test
}  // namespace mpitron::tokenizers::jinja
