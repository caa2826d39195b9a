#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace lexer_test {

using test::expect_rendered;

TEST(Lexer, TrimsBlocks) {
  expect_rendered({
      {"   {% if true %}\n  a\n   {%- endif %}\n  b {% if true +%}\n c{% endif %}\n   {%+ if true "
       "%}d{% endif %}\n",
       "  a  b \n c   d"},
      {"line\r\nline2\r{% if 1 %}\r\nx{% endif %}\n\n", "line\nline2\nx"},
      {"a\n", "a"},
      {"a\n\n", "a\n"},
      {"\n{{ 'a' }}\n{% set x=1 %}\n{{ x }}\n", "\na\n1"},
      {"{% raw %}{{ x }}{% endraw %} {# comment #} x\n{# c #}\n  {% raw -%}  y {%- endraw %} z",
       "{{ x }}  x\ny z"},
      {"{%set x=1%}{{x}}{%-if x-%} y {%-endif-%} z", "1yz"},
      {"{{- 'a' -}}  {{- 'b' }} {{ 'c' -}} \n d", "ab cd"},
      {"{% for i in l -%}\n   {{ i }}\n{%- endfor %}\nx", "312x"},
      {"{% if 1 -%} {# c -#}  a {%- endif %}", "a"},
      {" {#- c #} x {# d -#}  y", " x y"},
      {R"({{ "%}" }}{{ {"a": {"b": 1}}}})", "%}{'a': {'b': 1}}"},
  });
}

TEST(Lexer, RefusesWhatIsOpen) {
  expect_rendered({
      {"{# unclosed", "! chat template, line 1: Missing end of comment tag"},
      {"{% raw %} x", "! chat template, line 1: Missing end of raw directive"},
  });
}

}  // namespace lexer_test
}  // namespace mpitron::tokenizers::jinja
