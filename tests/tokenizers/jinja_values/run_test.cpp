#include "tokenizers/jinja_values/run.h"

#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace run_test {

using test::rendered;

/// Templates of strangers end, in little time and memory, with the limit that they reached.
TEST(Run, KeepsItsLimits) {
  for (const char* text :
       {"{% for a in range(100000000) %}{% endfor %}",
        "{% for a in range(3000) %}{% for b in range(3000) %}{% endfor %}{% endfor %}",
        "{{ 'a' * 100000000000 }}", "{{ [0] * 100000000000 }}",
        "{{ [] * 100000000000 }}{{ 'x' | center(1000000000) }}",
        "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% "
        "endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% "
        "endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% "
        "endfor %}{{ ns.x == [ns.x] }}{{ ns.x | tojson(indent=9) }}",
        "{% for i in range(10) %}{{ 'ab' * 30000000 }}{% endfor %}"}) {
    EXPECT_NE(rendered(text).find(" more than "), std::string::npos)
        << rendered(text).substr(0, 99);
  }
}

TEST(Run, KeepsItsDepth) {
  for (const char* text : {"{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}",
                           "{% set ns = namespace(x=[]) %}{% for i in range(5000) %}{% set ns.x = "
                           "[ns.x] %}{% endfor %}{{ ns.x }}",
                           "{% set ns = namespace(x=[]) %}{% for i in range(5000) %}{% set ns.x = "
                           "[ns.x] %}{% endfor %}{{ ns.x | tojson }}",
                           "{% set x = [] %}{% set _ = x.append(x) %}{{ x }}",
                           "{% set x = [] %}{% set _ = x.append(x) %}{{ x == [x] }}{{ x | sort == "
                           "x }}{{ [x, [x]] | sort }}"}) {
    EXPECT_NE(rendered(text).find("nests deeper"), std::string::npos)
        << rendered(text).substr(0, 99);
  }
  // Deep lists that nobody looks at are taken down without recursion.
  EXPECT_EQ(rendered("{% set ns = namespace(x=[]) %}{% for i in range(100000) %}"
                     "{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | length }}"),
            "1");
  EXPECT_EQ(rendered("{% set ns = namespace() %}{% set ns.a = [ns] %}{% set _ = "
                     "ns.a.append(ns.a) %}{{ ns.a | length }}"),
            "2");
}

TEST(Run, ListsOfOthersStayAsTheyAre) {
  EXPECT_EQ(rendered("{% set x = l + [] %}{% set _ = x.append(4) %}{{ x }}{{ l }}"),
            "[3, 1, 2, 4][3, 1, 2]");
  EXPECT_NE(rendered("{{ l.append(1) }}").find("unsafe"), std::string::npos);
}

}  // namespace run_test
}  // namespace mpitron::tokenizers::jinja
