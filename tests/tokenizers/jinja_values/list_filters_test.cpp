#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace list_filters_test {

using test::expect_rendered;

TEST(ListFilters, ChooseAndOrder) {
  expect_rendered({
      {"{{ [1, 2, 3, 4, 5] | batch(2, 'x') | list }} {{ [['a', 1], ['b', 2], ['a', 3]] | "
       "groupby(0) | map('last') | list }} {{ zz | default('q') }} {{ e | default('q') }} {{ e | "
       "default('q', true) }} {{ zz | d }} {{ d | items | list }} {{ zz | items | list }}",
       "[[1, 2], [3, 4], [5, 'x']] [[['a', 1], ['a', 3]], [['b', 2]]] q  q  [('b', 1), ('a', 2), "
       "('C', 3)] []"},
      {"{{ [{'r': 2}, {'r': 1}] | sum(attribute='r') }} {{ s | attr('zz') is defined }}",
       "3 False"},
      {"{{ 5 | length }}", "! chat template, line 1: object of type 'int' has no len()"},
      {"{{ nil | items }}", "! chat template, line 1: Can only get item pairs from a mapping."},
  });
}

}  // namespace list_filters_test
}  // namespace mpitron::tokenizers::jinja
