#include "tokenizers/jinja/template_parser.h"

#include <algorithm>

#include <fmt/format.h>

// Jinja's statements by their tags: a row and a function for each. Tags that load other templates
// are refused by name, since a chat template comes alone. Source: jinja2/parser.py.

namespace mpitron::tokenizers::jinja {
namespace {

using Kind = Token::Kind;

}  // namespace

/// The tags that there are; `generation` is transformers' own, the others are Jinja's.
const TemplateParser::Row* TemplateParser::find_row(std::string_view name) {
  static constexpr Row kRows[] = {
      {"if", &TemplateParser::parse_if},
      {"for", &TemplateParser::parse_for},
      {"set", &TemplateParser::parse_set},
      {"with", &TemplateParser::parse_with},
      {"macro", &TemplateParser::parse_macro},
      {"call", &TemplateParser::parse_call},
      {"filter", &TemplateParser::parse_filter},
      {"block", &TemplateParser::parse_block},
      {"break", &TemplateParser::parse_break},
      {"continue", &TemplateParser::parse_continue},
      {"generation", &TemplateParser::parse_generation},
  };
  const auto* const row = std::ranges::find(kRows, name, &Row::name);
  return row == std::end(kRows) ? nullptr : row;
}

Block TemplateParser::parse() {
  Block all = block({});
  if (!tokens_.at(Kind::end)) {
    tokens_.fail("unexpected " + TokenStream::described(tokens_.now()));
  }
  return all;
}

/// The last of `ends` is the one that a message asks for.
Block TemplateParser::block(std::initializer_list<std::string_view> ends) {
  const TokenStream::Depth deeper(tokens_);
  Block statements;
  while (!tokens_.at(Kind::end)) {
    const int line = tokens_.line();
    if (tokens_.at(Kind::data)) {
      statements.push_back(std::make_unique<Data>(line, tokens_.next().text));
    } else if (tokens_.at(Kind::variable_begin)) {
      tokens_.next();
      statements.push_back(std::make_unique<Output>(line, expressions_.tuple()));
      tokens_.expect(Kind::variable_end);
    } else {
      tokens_.expect(Kind::block_begin);
      if (tokens_.at(Kind::name) && std::ranges::find(ends, tokens_.now().text) != ends.end()) {
        return statements;
      }
      statements.push_back(statement());
      tokens_.expect(Kind::block_end);
    }
  }
  if (ends.size() > 0) {
    tokens_.fail(fmt::format("Unexpected end of template. Jinja was looking for the tag '{}'.",
                             *(ends.end() - 1)));
  }
  return statements;
}

/// Reads a body from the end of its tag up to the tag `end`, which is passed over.
Block TemplateParser::block_to(std::string_view end) {
  tokens_.expect(Kind::block_end);
  Block statements = block({end});
  tokens_.next();
  return statements;
}

/// Known tags that are missing here get another message than misspelt ones.
TemplateParser::Made TemplateParser::statement() {
  if (!tokens_.at(Kind::name)) {
    tokens_.fail("tag name expected");
  }
  const Row* row = find_row(tokens_.now().text);
  if (row == nullptr) {
    constexpr std::string_view kMissing[] = {"include",    "import", "from", "extends",
                                             "autoescape", "do",     "print"};
    const std::string& name = tokens_.now().text;
    const bool missing = std::ranges::find(kMissing, name) != std::end(kMissing);
    tokens_.fail(missing ? fmt::format("the tag '{}' is not available", name)
                         : fmt::format("Encountered unknown tag '{}'.", name));
  }
  const int line = tokens_.next().line;
  return (this->*row->parse)(line);
}

/// Reads `{% if %}`, any number of `{% elif %}`, and `{% else %}`.
TemplateParser::Made TemplateParser::parse_if(int line) {
  auto made = std::make_unique<If>(line);
  for (;;) {
    ExpressionPtr condition = expressions_.tuple(false);
    tokens_.expect(Kind::block_end);
    Block body = block({"elif", "else", "endif"});
    made->branches.emplace_back(std::move(condition), std::move(body));
    if (tokens_.skip_name("elif")) {
      continue;
    }
    if (tokens_.skip_name("else")) {
      made->otherwise = block_to("endif");
    } else {
      tokens_.next();
    }
    return made;
  }
}

/// Reads `{% for target in items if condition %}`. Loops are counted, for `break` and `continue` to
/// know that they are in one.
TemplateParser::Made TemplateParser::parse_for(int line) {
  auto made = std::make_unique<For>(line);
  made->target = expressions_.target(false);
  tokens_.expect_name("in");
  made->items = expressions_.tuple(false);
  if (tokens_.skip_name("if")) {
    made->condition = expressions_.expression();
  }
  if (tokens_.at_name("recursive")) {
    tokens_.fail("recursive loops are not available");
  }
  tokens_.expect(Kind::block_end);
  ++loops_;
  made->body = block({"else", "endfor"});
  --loops_;
  if (tokens_.skip_name("else")) {
    made->otherwise = block_to("endfor");
  } else {
    tokens_.next();
  }
  return made;
}

TemplateParser::Made TemplateParser::parse_break(int line) {
  if (loops_ == 0) {
    tokens_.fail("'break' outside loop");
  }
  return std::make_unique<Jump>(line, Flow::ends_loop);
}

TemplateParser::Made TemplateParser::parse_continue(int line) {
  if (loops_ == 0) {
    tokens_.fail("'continue' outside loop");
  }
  return std::make_unique<Jump>(line, Flow::next_turn);
}

TemplateParser::Made TemplateParser::parse_generation(int line) {
  auto made = std::make_unique<Generation>(line);
  made->body = block_to("endgeneration");
  return made;
}

}  // namespace mpitron::tokenizers::jinja
