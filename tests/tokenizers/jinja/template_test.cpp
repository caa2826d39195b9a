#include "tokenizers/jinja/template.h"

#include "support/fuzz.h"
#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace template_test {

using test::rendered;

TEST(Template, RaisesItsOwnTexts) {
  EXPECT_EQ(rendered("{{ raise_exception('roles must ' ~ 'alternate') }}"),
            "! roles must alternate");
  EXPECT_EQ(rendered("a\n{% if n %}\n{{ zz.x }}{% endif %}"),
            "! chat template, line 3: 'zz' is undefined");
}

TEST(Template, TellsWhatAnAssistantWrites) {
  const Template made(
      "{% for m in messages %}<{{ m }}>{% generation %}{{ m | upper }}"
      "{% endgeneration %}{% endfor %}{% set x %}{% generation %}no{% endgeneration %}"
      "{% endset %}");
  Dict variables;
  variables.set("messages", Value::of(List{"a", "bc"}));
  const Template::Text text = made.render(Value::of(std::move(variables)));
  EXPECT_EQ(text.text, "<a>A<bc>BC");
  EXPECT_EQ(text.generated, (std::vector<std::pair<std::size_t, std::size_t>>{{3, 4}, {8, 10}}));
}

TEST(Template, RefusesWhatIsTooLargeOrDeep) {
  const auto repeat = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) {
      all += text;
    }
    return all;
  };
  EXPECT_NE(rendered(std::string(2 << 20, ' ')).find("at most"), std::string::npos);
  EXPECT_NE(rendered("\xff").find("UTF-8"), std::string::npos);
  for (const std::string& text :
       {"{{ " + repeat("(", 100'000) + " }}", "{{ " + repeat("not ", 100'000) + "1 }}",
        "{{ 1" + repeat(" + 1", 100'000) + " }}", "{{ " + repeat("- ", 100'000) + "1 }}",
        "{{ 1" + repeat(" | string", 100'000) + " }}", "{{ l" + repeat("[0]", 100'000) + " }}",
        "{{ 1" + repeat(" if 1", 100'000) + " }}", repeat("{% if 1 %}", 50'000),
        "{% set " + repeat("(", 100'000) + "x", "{{ 1" + repeat(" if 1 else 1", 50'000) + " }}"}) {
    EXPECT_EQ(rendered(text).substr(0, 15), "! chat template") << text.substr(0, 40);
  }
}

/// Damaged templates and random joints of good ones either render or say what is wrong.
TEST(FuzzTemplates, RenderOrAreRefused) {
  std::vector<std::string> templates = {
      "{%- if messages[0]['role'] == 'system' -%}{%- set system = messages[0]['content'] | trim "
      "-%}{%- set rest = messages[1:] -%}{%- else -%}{%- set rest = messages -%}{%- endif -%}{{ "
      "bos_token }}{% for m in rest if m.content %}{{ '<|' ~ m.role ~ '|>' }}{{ m.content[::-1] | "
      "replace('a', 'b') | tojson }}{% endfor %}",
      "{% macro show(x, more={'a': 1}) %}{{ x | tojson(indent=2) }}{{ more.items() | list }}{% "
      "endmacro %}{% for t in tools %}{{ show(t) }}{{ loop.index ~ loop.last }}{% endfor %}",
      "{% set ns = namespace(n=0, l=[]) %}{% for i in range(9) %}{% if i is odd %}{% continue %}{% "
      "elif i > 6 %}{% break %}{% endif %}{% set ns.n = ns.n + i %}{% endfor %}{{ '%5.2f %s' % "
      "(ns.n, ns.l) }}{% raw %}{{ x }}{% endraw %}{# note #}",
      "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | join(', ') "
      "}}{{ d | dictsort | list }}{{ s.split()[-1].strip('d') | title }}{{ (1, 2) + (3,) }}{{ x | "
      "round(1) // 2 ** 2 % 3 }}",
      "{% call(x) f(5) %}{{ x }}{% endcall %}{% macro f(a) %}{{ caller(a) }}{% endmacro %}{% with "
      "a "
      "= 1 %}{% filter upper %}{{ a }}{% endfilter %}{% endwith %}{% set y | trim %} z {% endset "
      "%}"};
  const Value variables = value_of_json(test::kTemplateVariables);
  test::fuzz(templates, test::FuzzLength::of_ci(3000), [&](const std::string& text) {
    const Template made(text);
    made.render(variables, {.steps = 20'000, .output = 1 << 20});
  });
}

}  // namespace template_test
}  // namespace mpitron::tokenizers::jinja
