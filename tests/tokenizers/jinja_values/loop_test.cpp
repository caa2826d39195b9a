#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace loop_test {

using test::expect_rendered;

TEST(Loop, TellsWhereItIs) {
  expect_rendered({
      {"{% for m in messages %}{{ loop.index }}{{ loop.index0 }} {{ loop.revindex }}{{ "
       "loop.revindex0 }} {{ loop.first }} {{ loop.last }} {{ loop.length }} {% endfor %}",
       "10 32 True False 3 21 21 False False 3 32 10 False True 3 "},
      {"{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{{ loop.cycle('a', 'b') }}{{ loop.previtem "
       "}}{{ loop.nextitem }} {% endfor %}",
       "Truea1 Falseb12 Truea1 "},
      {"{% for i in l %}{{ loop.zz }}{% endfor %}", ""},
      {"{% for i in l %}{{ loop.cycle() }}{% endfor %}",
       "! chat template, line 1: no items for cycling given"},
  });
}

}  // namespace loop_test
}  // namespace mpitron::tokenizers::jinja
