#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace literal_parser_test {

using test::expect_rendered;

TEST(LiteralParser, ReadsNumbersListsDictionariesAndTuples) {
  expect_rendered({
      {"{{ 1_000 }} {{ 1.5e3 }} {{ [1, 2,] }} {{ (1, 2,) }} {{ () }} {{ (1) }} {{ {'a': 1,}.a }}",
       "1000 1500.0 [1, 2] (1, 2) () 1 1"},
      {"{{ [1, 2 }}", "! chat template, line 1: unexpected '}', expected ']'"},
  });
}

}  // namespace literal_parser_test
}  // namespace mpitron::tokenizers::jinja
