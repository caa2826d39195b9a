#include <algorithm>

#include "tokenizers/jinja/template_parser.h"

// Statements that define names or hand their body on: set, with, macro, call, filter and block.

namespace mpitron::tokenizers::jinja {
namespace {

using Kind = Token::Kind;

bool has(const std::vector<std::string>& names, const char* name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

/// Reads `{% set a, b = tuple %}`, or a block whose text is the value: `{% set a | filters %}...{%
/// endset %}`.
TemplateParser::Made TemplateParser::parse_set(int line) {
  auto made = std::make_unique<Set>(line);
  made->target = expressions_.target(true);
  if (tokens_.skip_sign("=")) {
    made->value = expressions_.tuple();
    return made;
  }
  made->filter = expressions_.block_filters(false);
  made->body = block_to("endset");
  return made;
}

TemplateParser::Made TemplateParser::parse_with(int line) {
  auto made = std::make_unique<With>(line);
  while (!tokens_.at(Kind::block_end)) {
    if (!made->values.empty()) {
      tokens_.expect_sign(",");
    }
    Target target{.name = tokens_.expect_any_name(), .attribute = {}, .targets = {}};
    tokens_.expect_sign("=");
    made->values.emplace_back(std::move(target), expressions_.expression());
  }
  made->body = block_to("endwith");
  return made;
}

/// Reads the rest of a macro or call block, from its parameters' end on. Names used inside decide
/// whether varargs, kwargs and caller are passed; a loop outside does not allow `break` inside.
void TemplateParser::parse_body(MacroBody& macro, std::string_view end) {
  std::vector<std::string> outside = expressions_.names_read();
  const int loops = std::exchange(loops_, 0);
  macro.body = block_to(end);
  loops_ = loops;
  const std::vector<std::string> inside = expressions_.names_read();
  macro.takes_more = has(inside, "varargs");
  macro.takes_more_named = has(inside, "kwargs");
  macro.calls_back = has(inside, "caller");
  expressions_.read_names(std::move(outside));
}

TemplateParser::Made TemplateParser::parse_macro(int line) {
  auto made = std::make_unique<DefineMacro>(line);
  made->macro.name = tokens_.expect_any_name();
  made->macro.parameters = expressions_.parameters();
  parse_body(made->macro, "endmacro");
  return made;
}

/// Reads `{% call(parameters) macro(arguments) %}`: the body becomes a macro named `caller`, which
/// the called one can call back.
TemplateParser::Made TemplateParser::parse_call(int line) {
  auto made = std::make_unique<CallBlock>(line);
  made->macro.name = "caller";
  if (tokens_.at_sign("(")) {
    made->macro.parameters = expressions_.parameters();
  }
  ExpressionPtr called = expressions_.expression();
  if (dynamic_cast<Call*>(called.get()) == nullptr) {
    tokens_.fail("expected call");
  }
  made->call.reset(static_cast<Call*>(called.release()));
  parse_body(made->macro, "endcall");
  return made;
}

TemplateParser::Made TemplateParser::parse_filter(int line) {
  auto made = std::make_unique<FilterBlock>(line);
  made->filter = expressions_.block_filters(true);
  made->body = block_to("endfilter");
  return made;
}

/// Reads `{% block %}`; a block that nobody replaces is a scope with what it holds.
TemplateParser::Made TemplateParser::parse_block(int line) {
  auto made = std::make_unique<With>(line);
  const std::string name = tokens_.expect_any_name();
  made->body = block_to("endblock");
  tokens_.skip_name(name);
  return made;
}

}  // namespace mpitron::tokenizers::jinja
