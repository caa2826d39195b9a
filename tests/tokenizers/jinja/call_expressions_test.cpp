#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace call_expressions_test {

using test::expect_rendered;

TEST(CallExpressions, CallWhatIsCallable) {
  expect_rendered({
      {"{{ zz() }}", "! chat template, line 1: 'zz' is undefined"},
      {"{{ s() }}", "! chat template, line 1: 'str' object is not callable"},
      {"{{ s.zz() }}", "! chat template, line 1: 'str object' has no attribute 'zz'"},
  });
}

TEST(CallExpressions, SpreadTheirArguments) {
  expect_rendered({
      {"{{ range(*[1, 3]) | list }} {{ dict(**{'a': 1}) }}", "[1, 2] {'a': 1}"},
  });
}

}  // namespace call_expressions_test
}  // namespace mpitron::tokenizers::jinja
