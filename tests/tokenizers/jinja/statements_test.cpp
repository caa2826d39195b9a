#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace statements_test {

using test::expect_rendered;

TEST(Statements, SetAndRepeat) {
  expect_rendered({
      {"{%- for k, v in d.items() -%}{{ k }}={{ v }}{% if not loop.last %}, {% endif %}{%- endfor "
       "-%}",
       "b=1, a=2, C=3"},
      {"{% for x in [] %}a{% else %}none{% endfor %}{% for x in l if x > 1 %}{{ x }}{{ loop.length "
       "}}{% endfor %}",
       "none3222"},
      {"{% set a = 1 %}{% for i in l %}{% set a = a + i %}{{ a }} {% endfor %}{{ a }}", "4 2 3 1"},
      {"{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break "
       "%}{% endif %}{{ i }}{% endfor %}",
       "0134"},
      {"{% for a in [1, 2] %}{% for b in [1, 2] %}{{ loop.index }}{{ a }}{{ b }} {% endfor %}{{ "
       "loop.index }}{% endfor %}",
       "111 212 1121 222 2"},
      {"{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set (c, d) = (3, 4) %}{{ c }}{{ d }}{% for (a, (b, "
       "c)) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
       "1234123"},
      {"{% if a is defined and a %}1{% elif n > 5 %}2{% else %}3{% endif %}", "2"},
      {"{% set y %}  abc {{ n }} {% endset %}[{{ y }}]{% set y | upper | trim %} q {% endset %}[{{ "
       "y }}]",
       "[  abc 7 ][Q]"},
      {"{% filter upper %}a{{ s }}{% endfilter %}{% with a = 5, b = n %}{{ a }}{{ b }}{% endwith "
       "%}{{ a }}{% block q %}in place{% endblock %}",
       "AHELLO WORLD57in place"},
      {"{% set d2 = {'a': 1} %}{% set d2.b = 2 %}",
       "! chat template, line 1: cannot assign attribute on non-namespace object"},
      {"{% set q.b = 2 %}", "! chat template, line 1: 'q' is undefined"},
      {"{% set a, b = [1, 2, 3] %}",
       "! chat template, line 1: too many values to unpack (expected 2)"},
      {"{% set a, b = [1] %}",
       "! chat template, line 1: not enough values to unpack (expected 2, got 1)"},
  });
}

TEST(Statements, CallMacros) {
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

}  // namespace statements_test
}  // namespace mpitron::tokenizers::jinja
