#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace macros_test {

using test::expect_rendered;

TEST(Macros, CallMacros) {
  expect_rendered({
      {"{% macro f(a, b=2, c='x') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ f(1) }}{{ f(1, c=3) "
       "}}{{ f(1, 2, 3) }}{{ f() }}",
       "[12x][123][123][2x]"},
      {"{% macro f(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, k=3) }}",
       "1(2,){'k': 3}"},
      {"{% macro f(a) %}<{{ caller(a) }}>{% endmacro %}{% call(x) f(5) %}{{ x }}!{% endcall %}",
       "<5!>"},
      {"{% macro outer() %}{% macro inner(x) %}({{ x }}){% endmacro %}{{ inner(1) }}{{ inner(2) "
       "}}{% endmacro %}{{ outer() }}",
       "(1)(2)"},
      {"{% set x = 1 %}{% macro f() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ f() }}", "2"},
      {"{% macro r(n) %}{{ n }}{% if n > 0 %}{{ r(n - 1) }}{% endif %}{% endmacro %}{{ r(5) }}",
       "543210"},
      {"{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}",
       "! chat template, line 1: macro 'f' takes not more than 1 argument(s)"},
      {"{% macro f(a) %}{{ a }}{% endmacro %}{{ f(b=2) }}",
       "! chat template, line 1: macro 'f' takes no keyword argument 'b'"},
      {"{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, a=2) }}",
       "! chat template, line 1: macro 'f' got multiple values for argument 'a'"},
      {"{% generation %}x{% set q = 1 %}{% endgeneration %}{{ q }}", "x"},
  });
}

}  // namespace macros_test

}  // namespace mpitron::tokenizers::jinja
