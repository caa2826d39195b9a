#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace operators_test {

using test::expect_rendered;

TEST(Operators, ComputesAsPython) {
  expect_rendered({
      {"{{ n // 2 }} {{ neg // 2 }} {{ neg % 3 }} {{ n / 2 }} {{ n ** 2 }} {{ 2 ** -1 }} {{ -n }} "
       "{{ +n }} {{ 7.5 // 2 }} {{ 7 % 2.5 }} {{ true + 1 }}",
       "3 -4 2 3.5 49 0.5 -7 7 3.0 2.0 2"},
      {"{{ l + [4] }} {{ 'a' * 3 }} {{ -1 * 'ab' }} {{ [0] * 2 }} {{ (1,) + (2, 3) }} {{ s + '!' "
       "}}",
       "[3, 1, 2, 4] aaa  [0, 0] (1, 2, 3) hello World!"},
      {"{{ 1 / 0 }}", "! chat template, line 1: division by zero"},
      {"{{ 1 // 0 }}", "! chat template, line 1: integer division or modulo by zero"},
      {"{{ 1.5 % 0 }}", "! chat template, line 1: float division by zero"},
      {"{{ s + 1 }}", R"(! chat template, line 1: can only concatenate str (not "int") to str)"},
      {"{{ 1 + s }}",
       "! chat template, line 1: unsupported operand type(s) for +: 'int' and 'str'"},
      {"{{ l + s }}", R"(! chat template, line 1: can only concatenate list (not "str") to list)"},
      {"{{ nil + 1 }}",
       "! chat template, line 1: unsupported operand type(s) for +: 'NoneType' and 'int'"},
      {"{{ zz + 1 }}", "! chat template, line 1: 'zz' is undefined"},
      {"{{ -s }}", "! chat template, line 1: bad operand type for unary -: 'str'"},
  });
}

TEST(Operators, Compares) {
  expect_rendered({
      {"{{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }} {{ 1 == 1.0 }} {{ '1' == 1 }} {{ [1] == [1.0] }} {{ (1,) "
       "== [1] }} {{ {'a': 1} == {'a': 1.0} }} {{ zz == yy }} {{ zz == none }} {{ false == 0 }}",
       "True False True False True False True True False True"},
      {"{{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ [1] < [1, 3] }} {{ 'Z' < 'a' }} {{ 2 >= 2 }} {{ 3 "
       "<= 2 }} {{ 1 != 2 }}",
       "True True True True True False True"},
      {"{{ 'o' in s }} {{ 3 in l }} {{ 3 not in l }} {{ 'a' in d }} {{ 'x' in zz }} {{ 'b' in "
       "words }}",
       "True True False True False True"},
      {"{{ 1 < s }}",
       "! chat template, line 1: '<' not supported between instances of 'int' and 'str'"},
      {"{{ nil < 1 }}",
       "! chat template, line 1: '<' not supported between instances of 'NoneType' and 'int'"},
      {"{{ 1 in s }}",
       "! chat template, line 1: 'in <string>' requires string as left operand, not int"},
      {"{{ 1 in 5 }}", "! chat template, line 1: argument of type 'int' is not iterable"},
  });
}

}  // namespace operators_test
}  // namespace mpitron::tokenizers::jinja
