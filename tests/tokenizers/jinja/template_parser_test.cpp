#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace template_parser_test {

using test::expect_rendered;

TEST(TemplateParser, RefusesByNameAndLine) {
  expect_rendered({
      {"{% include 'x' %}", "! chat template, line 1: the tag 'include' is not available"},
      {"a\n\n{% extends 'x' %}", "! chat template, line 3: the tag 'extends' is not available"},
      {"{% import 'x' as y %}", "! chat template, line 1: the tag 'import' is not available"},
      {"{% do x %}", "! chat template, line 1: the tag 'do' is not available"},
      {"{% foo %}", "! chat template, line 1: Encountered unknown tag 'foo'."},
      {"{% if %}{% endif %}", "! chat template, line 1: unexpected 'end of statement block'"},
      {"{% endif %}", "! chat template, line 1: Encountered unknown tag 'endif'."},
      {"{% for x in l %}",
       "! chat template, line 1: Unexpected end of template. Jinja was looking for the tag "
       "'endfor'."},
      {"{% if n %}{% for x in l %}{% endif %}",
       "! chat template, line 1: Encountered unknown tag 'endif'."},
      {"{% for x in l recursive %}{% endfor %}",
       "! chat template, line 1: recursive loops are not available"},
      {"{% break %}", "! chat template, line 1: 'break' outside loop"},
      {"{% macro f() %}{% break %}{% endmacro %}", "! chat template, line 1: 'break' outside loop"},
      {"{% 1 %}", "! chat template, line 1: tag name expected"},
  });
}

}  // namespace template_parser_test
}  // namespace mpitron::tokenizers::jinja
