#include "inference/protocol/openai/structured_output.h"

#include <array>

#include <fmt/format.h>

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

Wish guided_json(const Fields& fields) {
  const bool is_text = fields.kind("guided_json") == Fields::Kind::text;
  return schema(is_text ? fields.text("guided_json", "") : fields.json("guided_json"));
}

Wish guided_regex(const Fields& fields) {
  return {fields.text("guided_regex", ""),
          [](const std::string& regex) { return Grammar{{regex_pattern(regex)}}; }};
}

/// A list of texts is compiled as a choice of literals, which needs no escapes.
Wish guided_choice(const Fields& fields) {
  const auto texts = fields.texts("guided_choice");
  if (!texts || texts->empty() || fields.kind("guided_choice") != Fields::Kind::list) {
    throw RequestError(400, "guided_choice must be a list of at least one string", "guided_choice");
  }
  return {fields.json("guided_choice"), [texts](const std::string&) {
            std::vector<Pattern> choices;
            for (const std::string& text : *texts) {
              choices.push_back(Pattern::text(text));
            }
            return Grammar{{Pattern::choice(std::move(choices))}};
          }};
}

struct WishRow {
  const char* field;
  Wish (*read)(const Fields&);
};
constexpr std::array kWishes = {
    WishRow{"response_format", response_format}, WishRow{"guided_json", guided_json},
    WishRow{"guided_regex", guided_regex}, WishRow{"guided_choice", guided_choice}};

}  // namespace

MakeConstraint structured_output(const ServedModel& model, const Fields& fields,
                                 const std::vector<TokenId>& ends) {
  const char* field = nullptr;
  Wish chosen;
  for (const WishRow& row : kWishes) {
    Wish wish = fields.has(row.field) ? row.read(fields) : Wish();
    if (!wish.grammar) {
      continue;
    }
    if (field != nullptr) {
      throw RequestError(400, fmt::format("{} and {} exclude each other", field, row.field),
                         row.field);
    }
    field = row.field;
    chosen = std::move(wish);
  }
  if (field == nullptr) {
    return {};
  }
  return held_to(
      model, field, chosen.text, [&] { return chosen.grammar(chosen.text); }, ends);
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
