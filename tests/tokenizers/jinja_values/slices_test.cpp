#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace slices_test {

using test::expect_rendered;

TEST(Slices, CountAsPython) {
  expect_rendered({
      {"{{ l[::-1] }} {{ l[1:] }} {{ l[:-1] }} {{ l[::2] }} {{ l[5:] }} {{ l[9] }} {{ l[-5:9:2] }} "
       "{{ l[2:0:-1] }} {{ (1, 2, 3)[1:] }}",
       "[2, 1, 3] [1, 2] [3, 1] [3, 2] []  [3, 2] [2, 1] (2, 3)"},
      {"{{ l[::0] }}", "! chat template, line 1: slice step cannot be zero"},
      {"{{ l['a':] }}",
       "! chat template, line 1: slice indices must be integers or None or have an __index__ "
       "method"},
  });
}

}  // namespace slices_test
}  // namespace mpitron::tokenizers::jinja
