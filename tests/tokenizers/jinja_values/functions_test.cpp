#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace functions_test {

using test::expect_rendered;

TEST(Functions, Make) {
  expect_rendered({
      {"{{ range(3) | list }} {{ range(1, 6, 2) | list }} {{ range(5, 0, -2) | list }} {{ "
       "dict(a=1, b=2) }} {{ dict({'x': 1}, y=2) }}",
       "[0, 1, 2] [1, 3, 5] [5, 3, 1] {'a': 1, 'b': 2} {'x': 1, 'y': 2}"},
      {"{% set ns = namespace(x=1) %}{% for i in l %}{% set ns.x = ns.x + i %}{% set ns.z = i %}{% "
       "endfor %}{{ ns.x }} {{ ns.z }} {{ ns.q }}",
       "7 2 "},
      {"{% set j = joiner() %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}", "3, 1, 2"},
      {"{{ strftime_now('%Y-%m-%d %d %b') }}", "2023-11-15 15 Nov"},
      {"{{ range(1, 2, 0) }}", "! chat template, line 1: range() arg 3 must not be zero"},
  });
}

}  // namespace functions_test
}  // namespace mpitron::tokenizers::jinja
