#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace object_test {

TEST(Arguments, FitTheirParameters) {
  test::expect_rendered({
      {"{{ 'a-b'.split(sep='-', maxsplit=1) }}", "['a', 'b']"},
      {"{{ 'a'.split('a', 1, 2) }}",
       "! chat template, line 1: split() takes at most 2 arguments (3 given)"},
      {"{{ 'a'.split(x=1) }}",
       "! chat template, line 1: split() got an unexpected keyword argument 'x'"},
      {"{{ 'a'.split('a', sep='b') }}",
       "! chat template, line 1: split() got multiple values for argument 'sep'"},
      {"{{ 'a'.replace('a') }}",
       "! chat template, line 1: replace() missing a required argument: 'new'"},
      {"{{ 'a'.split('a', 'b') }}",
       "! chat template, line 1: 'str' object cannot be interpreted as an integer"},
      {"{{ 'a'.find(1) }}", "! chat template, line 1: expected str, got int"},
  });
}

}  // namespace object_test
}  // namespace mpitron::tokenizers::jinja
