#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace access_test {

using test::expect_rendered;

TEST(Access, IndexesAndSlicesAsPython) {
  expect_rendered({
      {"{{ s[0] }} {{ s[-1] }} {{ s[1:3] }} {{ s[::-1] }} {{ s[-3:] }} {{ 'äöü'[1] }} {{ "
       "'äöü'[::-1] }}",
       "h d el dlroW olleh rld ö üöä"},
      {"{{ l[::-1] }} {{ l[1:] }} {{ l[:-1] }} {{ l[::2] }} {{ l[5:] }} {{ l[9] }} {{ l[-5:9:2] }} "
       "{{ l[2:0:-1] }} {{ (1, 2, 3)[1:] }}",
       "[2, 1, 3] [1, 2] [3, 1] [3, 2] []  [3, 2] [2, 1] (2, 3)"},
      {"{{ l.0 }} {{ messages.0.role }} {{ messages[0]['content'] | trim }} {{ 5[1:] }}",
       "3 system Be brief. "},
      {"{{ l[::0] }}", "! chat template, line 1: slice step cannot be zero"},
      {"{{ l['a':] }}",
       "! chat template, line 1: slice indices must be integers or None or have an __index__ "
       "method"},
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
      {"{{ zz() }}", "! chat template, line 1: 'zz' is undefined"},
      {"{{ s() }}", "! chat template, line 1: 'str' object is not callable"},
      {"{{ s.zz() }}", "! chat template, line 1: 'str object' has no attribute 'zz'"},
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
