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
      {"{% if a is defined and a %}1{% elif n > 5 %}2{% else %}3{% endif %}", "2"},
      {"{% set d2 = {'a': 1} %}{% set d2.b = 2 %}",
       "! chat template, line 1: cannot assign attribute on non-namespace object"},
      {"{% set q.b = 2 %}", "! chat template, line 1: 'q' is undefined"},
      {"{% set a, b = [1, 2, 3] %}",
       "! chat template, line 1: too many values to unpack (expected 2)"},
      {"{% set a, b = [1] %}",
       "! chat template, line 1: not enough values to unpack (expected 2, got 1)"},
  });
}

}  // namespace statements_test

}  // namespace mpitron::tokenizers::jinja
