#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace text_filters_test {

using test::expect_rendered;

TEST(TextFilters, ChangeTexts) {
  expect_rendered({
      {R"({{ s | upper }} {{ s | title }} {{ "they're (a) b-c" | title }} {{ s | capitalize }} [{{ ' a ' | trim }}] {{ 'xax' | trim('x') }} {{ 'Straße' | upper }})",
       "HELLO WORLD Hello World They're (A) B-C Hello world [a] a STRASSE"},
      {R"({{ 'a\nb\n\nc' | indent }} {{ 'a\nb' | indent(2, true) }} {{ 'a\n\nb' | indent('> ', blank=true) }} {{ '<a> "b" \'c\' &' | e }} {{ 'foo' | replace('o', '0') }} {{ 'foo' | replace('o', '0', 1) }})",
       "a\n    b\n\n    c   a\n  b a\n> \n> b &lt;a&gt; &#34;b&#34; &#39;c&#39; &amp; f00 f0o"},
      {"{{ 'a b  c' | wordcount }} {{ 'x' | center(9) }}| {{ 'hello world foo bar' | truncate(11) "
       "}} {{ 'hello world foo bar' | truncate(11, true) }} {{ 'x y&z/ü' | urlencode }} {{ '%s %s' "
       "| format('a', 1) }} {{ zz | upper }}{{ nil | upper }}",
       "3     x    | hello... hello wo... x%20y%26z/%C3%BC a 1 NONE"},
  });
}

TEST(TextFilters, ChangeNumbers) {
  expect_rendered({
      {"{{ 42.55 | round }} {{ 42.55 | round(1) }} {{ 42.55 | round(1, 'floor') }} {{ 42 | round "
       "}} {{ 2.5 | round }} {{ 3.5 | round }} {{ 42.49 | round(0, 'ceil') }}",
       "43.0 42.5 42.5 42 2.0 4.0 43.0"},
      {"{{ x | int }} {{ '12' | int }} {{ 'x' | int }} {{ 'x' | int(5) }} {{ '3.9' | int }} {{ "
       "'0x1f' | int(base=16) }} {{ nil | int }} {{ '1.5' | float }} {{ 'q' | float }} {{ n | "
       "float }} {{ -5 | abs }} {{ 5 | string }}",
       "3 12 0 5 3 31 0 1.5 0.0 7.0 5 5"},
      {"{{ zz | int }}", "! chat template, line 1: 'zz' is undefined"},
      {"{{ s | round }}",
       "! chat template, line 1: round takes a number, and the methods common, ceil and floor"},
      {"{{ s | abs }}", "! chat template, line 1: bad operand type for abs(): 'str'"},
  });
}

}  // namespace text_filters_test
}  // namespace mpitron::tokenizers::jinja
