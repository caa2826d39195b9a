#include "inference/templates/tool_call_grammar.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "inference/grammar/schema_compiler.h"
#include "utils/error.h"

// Writes calls as the families of chat templates do. Arguments follow the function's own schema,
// which is compiled by itself, so that its references are to its own parts.

namespace mpitron::inference {
namespace {

/// What stands around calls of a format, and what it calls arguments.
struct CallForm {
  ToolFormat format;
  const char *begin, *open, *arguments, *close, *between, *end;
};

constexpr CallForm kForms[] = {
    {ToolFormat::tags, "", "<tool_call>\n", "arguments", "\n</tool_call>", "\n", ""},
    {ToolFormat::list, "[TOOL_CALLS] [", "", "arguments", "", ", ", "]"},
    {ToolFormat::objects, "", "", "parameters", "", "; ", ""}};

const CallForm& form_of(ToolFormat format) {
  return *std::ranges::find(kForms, format, &CallForm::format);
}

/// The pattern with the numbers of its rules raised.
Pattern renumbered(const Pattern& pattern, std::size_t by) {
  switch (pattern.kind()) {
    case Pattern::Kind::bytes:
      return pattern;
    case Pattern::Kind::rule:
      return Pattern::rule(pattern.number() + by);
    default:
      break;
  }
  std::vector<Pattern> parts;
  for (const Pattern& part : pattern.parts()) {
    parts.push_back(renumbered(part, by));
  }
  switch (pattern.kind()) {
    case Pattern::Kind::sequence:
      return Pattern::sequence(std::move(parts));
    case Pattern::Kind::choice:
      return Pattern::choice(std::move(parts));
    default:
      return Pattern::repeat(parts.at(0), pattern.least(), pattern.most());
  }
}

/// Adds a language to another one's rules, and returns the pattern that stands for it.
Pattern add_language(Grammar& to, const Grammar& language) {
  const std::size_t first = to.rules.size();
  for (const Pattern& rule : language.rules) {
    to.rules.push_back(renumbered(rule, first));
  }
  return Pattern::rule(first);
}

Pattern call_of(const CallForm& form, const OfferedFunction& function, Grammar& grammar) {
  try {
    const Pattern arguments = add_language(grammar, schema_grammar(function.parameters));
    const std::string name = nlohmann::json(function.name).dump();
    return Pattern::sequence(
        {Pattern::text(fmt::format("{}{{\"name\": {}, \"{}\": ", form.open, name, form.arguments)),
         arguments, Pattern::text(fmt::format("}}{}", form.close))});
  } catch (const Error& error) {
    throw_data("function {}: {}", function.name, error.what());
  }
}

}  // namespace

Grammar tool_call_grammar(ToolFormat format, std::span<const OfferedFunction> functions,
                          bool several) {
  const CallForm& form = form_of(format);
  Grammar grammar{{Pattern()}};
  std::vector<Pattern> calls;
  for (const OfferedFunction& function : functions) {
    calls.push_back(call_of(form, function, grammar));
  }
  const Pattern call = Pattern::choice(std::move(calls));
  const Pattern more = Pattern::sequence({Pattern::text(form.between), call});
  grammar.rules[0] = Pattern::sequence({Pattern::text(form.begin), call,
                                        Pattern::repeat(more, 0, several ? Pattern::kEndless : 0),
                                        Pattern::text(form.end)});
  return grammar;
}

}  // namespace mpitron::inference
