#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace ordering_filters_test {

using test::expect_rendered;

TEST(OrderingFilters, OrderAsJinja) {
  expect_rendered({
      {"{{ l | sort }} {{ words | sort }} {{ words | sort(case_sensitive=true) }} {{ l | "
       "sort(reverse=true) }} {{ d | dictsort }} {{ d | dictsort(by='value') }} {{ messages | "
       "sort(attribute='role') | map(attribute='role') | list }}",
       "[1, 2, 3] ['A', 'b', 'c'] ['A', 'b', 'c'] [3, 2, 1] [('a', 2), ('b', 1), ('C', 3)] [('b', "
       "1), ('a', 2), ('C', 3)] ['assistant', 'system', 'user']"},
      {"{{ l | first }} {{ l | last }} {{ [] | last }} {{ l | min }} {{ words | max }} {{ l | sum "
       "}} {{ ['b', 'a', 'B'] | unique | list }} {{ l | reverse | list }} {{ 'äb' | reverse }} {{ "
       "d | length }} {{ 'äö' | length }} {{ zz | length }}",
       "3 2  1 c 6 ['b', 'a'] [2, 1, 3] bä 3 2 0"},
      {"{{ [1, 'a'] | sort }}",
       "! chat template, line 1: '<' not supported between instances of 'str' and 'int'"},
  });
}

}  // namespace ordering_filters_test
}  // namespace mpitron::tokenizers::jinja
