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

}  // namespace text_filters_test

}  // namespace mpitron::tokenizers::jinja
