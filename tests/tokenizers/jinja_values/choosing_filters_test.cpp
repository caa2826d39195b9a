#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace choosing_filters_test {

using test::expect_rendered;

TEST(ChoosingFilters, ChooseByTests) {
  expect_rendered({
      {"{{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | "
       "rejectattr('role', 'in', ['user', 'system']) | map(attribute='role') | list }} {{ messages "
       "| selectattr('name') | list | length }} {{ l | select('odd') | list }} {{ l | "
       "reject('odd') | list }} {{ nil | select | list }}",
       "1 ['assistant'] 1 [3, 1] [2] []"},
      {"{{ l | map('zz') | list }}", "! chat template, line 1: No filter named 'zz'."},
      {"{{ l | select('zz') | list }}", "! chat template, line 1: No test named 'zz'."},
  });
}

}  // namespace choosing_filters_test
}  // namespace mpitron::tokenizers::jinja
