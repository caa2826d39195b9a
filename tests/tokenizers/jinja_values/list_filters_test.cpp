#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace list_filters_test {

using test::expect_rendered;

TEST(ListFilters, ChooseAndOrder) {
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
      {"{{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | "
       "rejectattr('role', 'in', ['user', 'system']) | map(attribute='role') | list }} {{ messages "
       "| selectattr('name') | list | length }} {{ l | select('odd') | list }} {{ l | "
       "reject('odd') | list }} {{ nil | select | list }}",
       "1 ['assistant'] 1 [3, 1] [2] []"},
      {"{{ l | join(', ') }} {{ messages | join('-', attribute='role') }} {{ l | map('string') | "
       "list }} {{ [{'a': {'b': 1}}] | map(attribute='a.b') | list }} {{ [[1, 2]] | "
       "map(attribute=0) | list }} {{ [{'a': 1}, {}] | map(attribute='a', default=9) | list }} {{ "
       "words | map('upper') | join }}",
       "3, 1, 2 system-user-assistant ['3', '1', '2'] [1] [1] [1, 9] BAC"},
      {"{{ [1, 2, 3, 4, 5] | batch(2, 'x') | list }} {{ [['a', 1], ['b', 2], ['a', 3]] | "
       "groupby(0) | map('last') | list }} {{ zz | default('q') }} {{ e | default('q') }} {{ e | "
       "default('q', true) }} {{ zz | d }} {{ d | items | list }} {{ zz | items | list }}",
       "[[1, 2], [3, 4], [5, 'x']] [[['a', 1], ['a', 3]], [['b', 2]]] q  q  [('b', 1), ('a', 2), "
       "('C', 3)] []"},
      {"{{ [{'r': 2}, {'r': 1}] | sum(attribute='r') }} {{ s | attr('zz') is defined }}",
       "3 False"},
      {"{{ 5 | length }}", "! chat template, line 1: object of type 'int' has no len()"},
      {"{{ nil | items }}", "! chat template, line 1: Can only get item pairs from a mapping."},
      {"{{ l | map('zz') | list }}", "! chat template, line 1: No filter named 'zz'."},
      {"{{ l | select('zz') | list }}", "! chat template, line 1: No test named 'zz'."},
      {"{{ [1, 'a'] | sort }}",
       "! chat template, line 1: '<' not supported between instances of 'str' and 'int'"},
  });
}

}  // namespace list_filters_test
}  // namespace mpitron::tokenizers::jinja
