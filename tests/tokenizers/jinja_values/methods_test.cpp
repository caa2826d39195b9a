#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace methods_test {

using test::expect_rendered;

TEST(Methods, OfTexts) {
  expect_rendered({
      {R"({{ s.split() }} {{ 'a,b,,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a b  c'.rsplit(None, 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ 'a\nb\r\nc'.splitlines() }})",
       "['hello', 'World'] ['a', 'b', '', 'c'] ['a', 'b,c'] ['a b', 'c'] ['a,b', 'c'] ['a', 'b', "
       "'c']"},
      {"{{ ' a '.strip() }}{{ 'xxaxx'.strip('x') }}{{ 'xxaxx'.lstrip('x') }}{{ ' xa '.rstrip() "
       "}}{{ s.startswith('he') }}{{ s.endswith(('x', 'ld')) }}",
       "aaaxx xaTrueTrue"},
      {"{{ s.replace('l', 'L') }} {{ s.replace('l', 'L', 1) }} {{ 'ab'.replace('', '-') }} {{ "
       "s.title() }} {{ s.upper() }} {{ 'ÄB'.lower() }} {{ s.capitalize() }}",
       "heLLo WorLd heLlo World -a-b- Hello World HELLO WORLD äb Hello world"},
      {"{{ s.find('o') }} {{ s.rfind('o') }} {{ 'äx'.find('x') }} {{ s.count('l') }} {{ "
       "s.index('W') }} {{ '-'.join(words) }}",
       "4 7 1 3 6 b-A-c"},
      {"{{ 'ab'.isalpha() }} {{ '12'.isdigit() }} {{ ' '.isspace() }} {{ 'a1'.isalnum() }} {{ "
       "'abc'.isupper() }} {{ 'abc'.islower() }}",
       "True True True True False True"},
      {"{{ 'a.b.c'.partition('.') }} {{ 'a.b.c'.rpartition('.') }} {{ 'ab'.ljust(4) }}| {{ "
       "'ab'.rjust(4, '*') }} {{ 'ab'.center(5, '*') }} {{ 'abc'.removeprefix('a') }} {{ "
       "'abc'.removesuffix('c') }}",
       "('a', '.', 'b.c') ('a.b', '.', 'c') ab  | **ab **ab* bc ab"},
      {R"({{ "{} {}".format(1, 'a') }} {{ "{0}-{0}-{1}".format(1, 'a') }} {{ "{n}{{}}".format(n=5) }})",
       "1 a 1-1-a 5{}"},
      {"{{ s.split('') }}", "! chat template, line 1: empty separator"},
      {"{{ s.startswith(1) }}",
       "! chat template, line 1: startswith first arg must be str or a tuple of str, not int"},
      {"{{ '-'.join([1]) }}",
       "! chat template, line 1: sequence item: expected str instance, int found"},
      {"{{ s.index('q') }}", "! chat template, line 1: substring not found"},
  });
}

TEST(Methods, OfDictionariesAndLists) {
  expect_rendered({
      {"{{ d.get('a') }} {{ d.get('zz') }} {{ d.get('zz', 5) }} {{ d.keys() | list }} {{ "
       "d.values() | list }} {{ d.items() | list }} {{ d.copy() }}",
       "2 None 5 ['b', 'a', 'C'] [1, 2, 3] [('b', 1), ('a', 2), ('C', 3)] {'b': 1, 'a': 2, 'C': "
       "3}"},
      {"{{ l.index(2) }} {{ l.count(3) }}", "2 1"},
      {"{{ l.index(9) }}", "! chat template, line 1: 9 is not in list"},
      {"{{ l.append(1) }}",
       "! chat template, line 1: access to attribute 'append' of 'list' object is unsafe."},
  });
}

}  // namespace methods_test
}  // namespace mpitron::tokenizers::jinja
