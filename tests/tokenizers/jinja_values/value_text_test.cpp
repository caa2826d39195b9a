#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace value_text_test {

using test::expect_rendered;

TEST(ValueText, PrintsAsPython) {
  expect_rendered({
      {"{{ n }}|{{ x }}|{{ s }}|{{ l }}|{{ d }}|{{ t }}|{{ nil }}|{{ zz }}|{{ (1,) }}|{{ () }}|{{ "
       "{} }}",
       "7|3.5|hello World|[3, 1, 2]|{'b': 1, 'a': 2, 'C': 3}|True|None||(1,)|()|{}"},
      {R"({{ [1, 'a', "it's", none, true, 1.5, {'k': (1,)}] }} {{ ["a\"b", "it's \"q\"", "\n\t\\"] }})",
       R"([1, 'a', "it's", None, True, 1.5, {'k': (1,)}] ['a"b', 'it\'s "q"', '\n\t\\'])"},
      {"{{ 1e16 }} {{ 1e15 }} {{ 123456789.123 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1 / 3 }} {{ 1e300 "
       "* 1e10 }} {{ 5e-324 }} {{ -0.0 }} {{ 4.0 }}",
       "1e+16 1000000000000000.0 123456789.123 0.0001 1e-05 0.3333333333333333 inf 5e-324 -0.0 "
       "4.0"},
  });
}

TEST(ValueText, WritesJson) {
  expect_rendered({
      {"{{ {'a': [1, {'b': none}], 'c': {}} | tojson(indent=1) }}{{ [] | tojson(indent=2) }}",
       "{\n \"a\": [\n  1,\n  {\n   \"b\": null\n  }\n ],\n \"c\": {}\n}[]"},
      {R"({{ '<>&\'"' | tojson }} {{ 'ä€😀\n\t\x01' | tojson }} {{ 1.0 | tojson }} {{ 1e20 | tojson }} {{ nil | tojson }} {{ "ä😀" | tojson(ensure_ascii=true) }})",
       R"("<>&'\"" "ä€😀\n\t\u0001" 1.0 1e+20 null "\u00e4\ud83d\ude00")"},
      {"{{ ('a', 'b') | tojson }} {{ {1: 2, true: 3, none: 4, 1.5: 5} | tojson }}",
       R"(["a", "b"] {"1": 3, "null": 4, "1.5": 5})"},
      {"{{ {(1, 2): 3} | tojson }}",
       "! chat template, line 1: keys must be str, int, float, bool or None, not tuple"},
  });
}

TEST(ValueText, FormatsByPercent) {
  expect_rendered({
      {"{{ '%d %s %05.2f %-5s| %+d %x %X %o %%' % (5, 'a', 3.14159, 'ab', 7, 255, 255, 8) }} {{ "
       "'%s' % s }} {{ '%s' % l }} {{ '%(a)s' % {'a': 1} }} {{ '%r' % s }} {{ '%.2s' % 'äöü' }} {{ "
       "'%5d|%-5d|%05d' % (-3, -3, -3) }} {{ '%e %g' % (12345.678, 0.0001) }}",
       "5 a 03.14 ab   | +7 ff FF 10 % hello World [3, 1, 2] 1 'hello World' äö    -3|-3   |-0003 "
       "1.234568e+04 0.0001"},
      {"{{ '%d' % 'a' }}",
       "! chat template, line 1: %d format: a real number is required, not str"},
      {"{{ '%s %s' % 'a' }}", "! chat template, line 1: not enough arguments for format string"},
      {"{{ 'a' % 1 }}",
       "! chat template, line 1: not all arguments converted during string formatting"},
      {"{{ '%' % 1 }}", "! chat template, line 1: incomplete format"},
      {"{{ '%q' % 1 }}", "! chat template, line 1: unsupported format character 'q'"},
  });
}

}  // namespace value_text_test
}  // namespace mpitron::tokenizers::jinja
