#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace number_filters_test {

using test::expect_rendered;

TEST(NumberFilters, ChangeNumbers) {
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

}  // namespace number_filters_test

}  // namespace mpitron::tokenizers::jinja
