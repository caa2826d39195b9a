#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace definition_parser_test {

using test::expect_rendered;

TEST(DefinitionParser, ReadsBodiesAndNames) {
  expect_rendered({
      {"{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set (c, d) = (3, 4) %}{{ c }}{{ d }}{% for (a, (b, "
       "c)) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
       "1234123"},
      {"{% set y %}  abc {{ n }} {% endset %}[{{ y }}]{% set y | upper | trim %} q {% endset %}[{{ "
       "y }}]",
       "[  abc 7 ][Q]"},
      {"{% filter upper %}a{{ s }}{% endfilter %}{% with a = 5, b = n %}{{ a }}{{ b }}{% endwith "
       "%}{{ a }}{% block q %}in place{% endblock %}",
       "AHELLO WORLD57in place"},
  });
}

TEST(DefinitionParser, RefusesByNameAndLine) {
  expect_rendered({
      {"{% set true = 1 %}", "! chat template, line 1: can't assign to 'true'"},
      {"{% macro f(a=1, b) %}{% endmacro %}",
       "! chat template, line 1: non-default argument follows default argument"},
      {"{% call f %}{% endcall %}", "! chat template, line 1: expected call"},
      {"{% set x = 1 } %}", "! chat template, line 1: unexpected '}'"},
  });
}

}  // namespace definition_parser_test
}  // namespace mpitron::tokenizers::jinja
