#include "inference/protocol/openai/tool_choice.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

// Reads which functions a chat's answers may, or have to, call.

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;

/// The functions of `tools`: objects {"type": "function", "function": {"name", "parameters"}}, as
/// far as they are that. One without parameters takes none.
std::vector<OfferedFunction> offered_functions(const Fields& fields) {
  std::vector<OfferedFunction> functions;
  for (const Json& tool : Json::parse(fields.json("tools"))) {
    const Json function = tool.is_object() ? tool.value("function", Json()) : Json();
    if (function.is_object() && function.contains("name") && function.at("name").is_string()) {
      const Json nothing = {{"type", "object"}, {"properties", Json::object()}};
      functions.push_back(
          {function.at("name").get<std::string>(), function.value("parameters", nothing).dump()});
    }
  }
  return functions;
}

[[noreturn]] void refuse(const std::string& why) {
  throw RequestError(400, why, "tool_choice");
}

/// The name in {"type": "function", "function": {"name": ..}}.
std::string chosen_name(const Fields& fields) {
  const Fields choice = fields.object("tool_choice");
  if (choice.text("type", "function") == "function" &&
      choice.kind("function") == Fields::Kind::object) {
    const Fields function = choice.object("function");
    if (function.kind("name") == Fields::Kind::text) {
      return function.text("name", "");
    }
  }
  refuse(
      "tool_choice: an object names a function: {\"type\": \"function\", \"function\": "
      "{\"name\": ..}}");
}

/// The functions that answers have to call; none where they need not.
std::vector<OfferedFunction> forced_functions(const Fields& fields) {
  const Fields::Kind kind = fields.kind("tool_choice");
  if (kind != Fields::Kind::text && kind != Fields::Kind::object) {
    refuse("tool_choice must be none, auto, required, or an object that names a function");
  }
  const bool named = kind == Fields::Kind::object;
  const std::string choice = named ? chosen_name(fields) : fields.text("tool_choice", "");
  if (!named && (choice == "none" || choice == "auto")) {
    return {};
  }
  if (!named && choice != "required") {
    refuse(
        fmt::format("tool_choice must be none, auto, required, or an object that names a "
                    "function, not {}",
                    choice));
  }
  std::vector<OfferedFunction> functions = offered_functions(fields);
  if (functions.empty()) {
    refuse("tool_choice needs tools with the function that is to be called");
  }
  if (named) {
    std::vector<std::string> names;
    std::ranges::transform(functions, std::back_inserter(names), &OfferedFunction::name);
    std::erase_if(functions, [&](const OfferedFunction& each) { return each.name != choice; });
    if (functions.empty()) {
      refuse(fmt::format("tool_choice: tools has no function {}; it has {}", choice,
                         fmt::join(names, ", ")));
    }
    functions.resize(1);
  }
  return functions;
}

/// The format of the template that writes the prompt.
ToolFormat format_of(const ServedModel& model, const Fields& fields) {
  const std::string own = fields.text("chat_template", "");
  return model.chat || !own.empty() ? tool_format(own.empty() ? model.chat->source() : own)
                                    : ToolFormat::none;
}

}  // namespace

std::string ToolChoice::described() const {
  Json functions = Json::array();
  for (const OfferedFunction& each : forced_functions) {
    functions.push_back({each.name, each.parameters});
  }
  return fmt::format("{} {} {}", static_cast<int>(format), several, dump(functions));
}

CalledText ToolChoice::read(const std::string& answer) const {
  CalledText parts = read_tool_calls(format, answer);
  if (!several && parts.calls.size() > 1) {
    parts.calls.resize(1);
  }
  return parts;
}

ToolChoice tool_choice(const ServedModel& model, const Fields& fields) {
  ToolChoice choice{.several = fields.boolean("parallel_tool_calls", true)};
  const bool given = fields.has("tool_choice");
  if (given) {
    choice.forced_functions = forced_functions(fields);
    choice.several &= fields.kind("tool_choice") != Fields::Kind::object;
  }
  const bool none = given && !choice.forced() && fields.text("tool_choice", "") == "none";
  if (fields.has("tools") && !none) {
    choice.format = format_of(model, fields);
  }
  if (choice.forced() && choice.format == ToolFormat::none) {
    choice.format = ToolFormat::tags;
  }
  return choice;
}

}  // namespace mpitron::inference
