#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace access_test {

using test::expect_rendered;

TEST(Access, IndexesAndSlicesAsPython) {
  expect_rendered({
      {"{{ s[0] }} {{ s[-1] }} {{ s[1:3] }} {{ s[::-1] }} {{ s[-3:] }} {{ 'äöü'[1] }} {{ "
       "'äöü'[::-1] }}",
       "h d el dlroW olleh rld ö üöä"},
      {"{{ l.0 }} {{ messages.0.role }} {{ messages[0]['content'] | trim }} {{ 5[1:] }}",
       "3 system Be brief. "},
  });
}

TEST(Access, FindsKeysAndMethods) {
  expect_rendered({
      {"{{ d.a }} {{ d['a'] }} {{ d.zz }} {{ {'items': 1}['items'] }} {{ {1: 'x'}[1.0] }} {{ {(1, "
       "2): 3}[(1, 2)] }}",
       "2 2  1 x 3"},
      {"{{ 'ab'.zz }}{{ l.zz }}{{ n.zz is defined }}{{ 'a'.upper is callable }}", "FalseTrue"},
      {"{{ zz.x }}", "! chat template, line 1: 'zz' is undefined"},
      {"{{ d.zz.x }}", "! chat template, line 1: 'dict object' has no attribute 'zz'"},
      {"{{ l[9].x }}", "! chat template, line 1: list object has no element 9"},
      {"{{ nil.x is defined }}{{ nil.x.y }}",
       "! chat template, line 1: 'None' has no attribute 'x'"},
  });
}

TEST(Access, VisitsElements) {
  expect_rendered({
      {"{{ 'äb' | list }}{{ d | list }}{{ l | list }}{{ zz | list }}",
       "['ä', 'b']['b', 'a', 'C'][3, 1, 2][]"},
      {"{% for x in n %}{% endfor %}", "! chat template, line 1: 'int' object is not iterable"},
      {"{% for x in nil %}{% endfor %}",
       "! chat template, line 1: 'NoneType' object is not iterable"},
  });
}

}  // namespace access_test
}  // namespace mpitron::tokenizers::jinja
