#include "inference/protocol/openai/structured_output.h"

#include <array>

#include <fmt/format.h>

#include "inference/grammar/grammar_parser.h"
#include "inference/grammar/regex_parser.h"
#include "inference/grammar/schema_compiler.h"
#include "utils/error.h"

// Reads the fields that ask for a form of the answer and makes its constraint. Compiled grammars
// are kept by field and text, so that equal requests share one.

namespace mpitron::inference {
namespace {

/// A field that holds answers to a language: the text that describes it, and how to compile that.
struct Wish {
  std::string text;
  std::function<Grammar(const std::string&)> grammar;  // unset: any text
};

Wish schema(std::string text) {
  return {std::move(text), [](const std::string& schema) { return schema_grammar(schema); }};
}

Wish response_format(const Fields& fields) {
  const Fields format = fields.object("response_format");
  const std::string type = format.text("type", "text");
  if (type == "text") {
    return {};
  }
  if (type == "json_object") {
    return {"", [](const std::string&) { return object_grammar(); }};
  }
  if (type != "json_schema") {
    throw RequestError(
        400,
        fmt::format("response_format: type {} is not available; there are text, json_object and "
                    "json_schema",
                    type),
        "response_format");
  }
  const Fields named = format.object("json_schema");
  if (!named.has("schema")) {
    throw RequestError(400, "response_format: json_schema needs a schema", "response_format");
  }
  return schema(named.json("schema"));
}

Wish json_schema(const Fields& fields, const std::string& name) {
  const bool is_text = fields.kind(name) == Fields::Kind::text;
  return schema(is_text ? fields.text(name, "") : fields.json(name));
}

Wish regular_expression(const Fields& fields, const std::string& name) {
  return {fields.text(name, ""),
          [](const std::string& regex) { return Grammar{{regex_pattern(regex)}}; }};
}

/// A list of texts is compiled as a choice of literals, which needs no escapes.
Wish one_of(const Fields& fields, const std::string& name) {
  const auto texts = fields.texts(name);
  if (!texts || texts->empty() || fields.kind(name) != Fields::Kind::list) {
    throw RequestError(400, fmt::format("{} must be a list of at least one string", name), name);
  }
  return {fields.json(name), [texts](const std::string&) {
            std::vector<Pattern> choices;
            for (const std::string& text : *texts) {
              choices.push_back(Pattern::text(text));
            }
            return Grammar{{Pattern::choice(std::move(choices))}};
          }};
}

Wish grammar(const Fields& fields, const std::string& name) {
  return {fields.text(name, ""), [](const std::string& text) { return parsed_grammar(text); }};
}

/// A wish by the name of its field, and by its name within `structured_outputs`.
struct WishRow {
  const char *field, *inside;
  Wish (*read)(const Fields&, const std::string& name);
};
constexpr std::array kWishes = {WishRow{"guided_json", "json", json_schema},
                                WishRow{"guided_regex", "regex", regular_expression},
                                WishRow{"guided_choice", "choice", one_of},
                                WishRow{"guided_grammar", "grammar", grammar}};

/// All wishes of a request, by the names that messages give them.
std::vector<std::pair<std::string, Wish>> wishes_of(const Fields& fields) {
  std::vector<std::pair<std::string, Wish>> wishes;
  const auto add = [&](const std::string& name, Wish wish) {
    if (wish.grammar) {
      wishes.emplace_back(name, std::move(wish));
    }
  };
  add("response_format", response_format(fields));
  const Fields inside = fields.object("structured_outputs");
  for (const WishRow& row : kWishes) {
    if (fields.has(row.field)) {
      add(row.field, row.read(fields, row.field));
    }
    if (inside.has(row.inside)) {
      add(fmt::format("structured_outputs.{}", row.inside), row.read(inside, row.inside));
    }
  }
  return wishes;
}

}  // namespace

MakeConstraint structured_output(const ServedModel& model, const Fields& fields,
                                 const std::vector<TokenId>& ends) {
  const auto wishes = wishes_of(fields);
  if (wishes.empty()) {
    return {};
  }
  const auto& [field, wish] = wishes.front();
  if (wishes.size() > 1) {
    throw RequestError(400, fmt::format("{} and {} exclude each other", field, wishes[1].first),
                       wishes[1].first);
  }
  return held_to(
      model, field, wish.text, [&] { return wish.grammar(wish.text); }, ends);
}

MakeConstraint held_to(const ServedModel& model, const std::string& field, const std::string& text,
                       const std::function<Grammar()>& language, const std::vector<TokenId>& ends) {
  try {
    const auto grammar = model.grammars->get(fmt::format("{} {}", field, text), language);
    return [grammar, ends] { return grammar->constrain(ends); };
  } catch (const Error& error) {
    throw RequestError(400, fmt::format("{}: {}", field, error.what()), field);
  }
}

}  // namespace mpitron::inference
