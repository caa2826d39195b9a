#include <algorithm>
#include <array>
#include <sstream>

#include <nlohmann/json.hpp>

#include "inference/routing/information.h"
#include "inference/routing/routes.h"

// The OpenAPI document is made from the rows of routes and fields, so it cannot differ from what
// the server reads.

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;

Json list_of(const Json& items) {
  return {{"type", "array"}, {"items", items}};
}

/// A number's schema with its bounds; integers carry them as integers.
Json number(const char* type, const FieldRule& rule) {
  Json schema = {{"type", type}};
  if (rule.type == FieldType::integer) {
    schema["format"] = "int64";
  }
  if (rule.least != rule.most) {
    const auto bound = [&](double value) {
      return rule.type == FieldType::integer ? Json(static_cast<std::int64_t>(value)) : Json(value);
    };
    schema["minimum"] = bound(rule.least);
    schema["maximum"] = bound(rule.most);
  }
  return schema;
}

/// Translates a rule's type into JSON Schema. It mirrors Fields::check_type: a body that the schema
/// allows must not be refused for its types.
Json schema_of(const FieldRule& rule) {
  const Json text = {{"type", "string"}};
  const Json id = {{"type", "integer"}, {"minimum", 0}, {"maximum", INT32_MAX}};
  Json some_ids = list_of(id);
  some_ids["minItems"] = 1;
  switch (rule.type) {
    case FieldType::boolean:
      return {{"type", "boolean"}};
    case FieldType::integer:
      return number("integer", rule);
    case FieldType::number:
    case FieldType::real:
      return number("number", rule);
    case FieldType::text:
      return text;
    case FieldType::texts: {
      Json list = list_of(text);
      list["maxItems"] = static_cast<Index>(rule.most);
      return {{"anyOf", {text, list}}};
    }
    case FieldType::ids:
      return list_of(id);
    case FieldType::prompts:
      return {{"anyOf", {text, list_of(text), some_ids, list_of(some_ids)}}};
    case FieldType::bias:
      return {{"type", "object"},
              {"propertyNames", {{"pattern", "^[0-9]{1,9}$"}}},
              {"additionalProperties", number("number", rule)}};
    case FieldType::list: {
      Json list = list_of(Json::object());
      if (rule.most > 0) {
        list["minItems"] = static_cast<Index>(rule.least);
        list["maxItems"] = static_cast<Index>(rule.most);
      }
      return list;
    }
    case FieldType::object:
      return {{"type", "object"}};
    default:
      return Json::object();
  }
}

/// A field that may be left out may be null as well, but not in Megatron's protocol.
Json property(const FieldRule& rule) {
  Json schema = schema_of(rule);
  if (!rule.required && rule.wrong == nullptr && !schema.empty()) {
    schema = {{"anyOf", {schema, {{"type", "null"}}}}};
  }
  schema["description"] = rule.help;
  return schema;
}

/// The schema of a route's body. Fields that are refused by name are left out.
Json body_of(const Route& route) {
  Json schema = {{"type", "object"}, {"properties", Json::object()}};
  for (const FieldRule& rule : route.fields()) {
    if (rule.type == FieldType::absent) {
      continue;
    }
    schema["properties"][rule.name] = property(rule);
    if (rule.required) {
      schema["required"].push_back(rule.name);
    }
  }
  return {{"required", true}, {"content", {{"application/json", {{"schema", schema}}}}}};
}

/// An entry of `responses` with one content type.
Json response(const char* meaning, const char* type, const Json& schema) {
  return {{"description", meaning}, {"content", {{type, {{"schema", schema}}}}}};
}

/// A route's reply with status 200; answers may come as an event stream instead.
Json success_of(const Route& route) {
  if (route.reply_type != std::string_view("application/json")) {
    return response("success", route.reply_type, {{"type", "string"}});
  }
  Json schema = {{"type", "object"}};
  std::istringstream names(route.reply_fields);
  for (std::string name; names >> name;) {
    schema["required"].push_back(name);
  }
  Json success = response("success", route.reply_type, schema);
  if (route.protocol == Protocol::completion || route.protocol == Protocol::chat) {
    success["content"]["text/event-stream"] = Json::object();  // 3.1 has no schema for events
  }
  return success;
}

bool of_all(const Route& /*route*/) {
  return true;
}
bool of_answers(const Route& route) {
  return route.protocol != Protocol::none;
}
bool of_changes(const Route& route) {
  return route.changes;
}

/// An error's status, and the routes that may answer it.
struct Status {
  const char* code;
  const char* meaning;
  bool (*of)(const Route&);
};
constexpr std::array kStatuses = {
    Status{"401", "the API key is missing or wrong", of_all},
    Status{"403", "the server was not started so that this is allowed", of_changes},
    Status{"404", "there is no such model or target", of_all},
    Status{"405", "the target takes another method", of_all},
    Status{"413", "the body is too large", of_all},
    Status{"429", "too many requests are open; Retry-After says when to come again", of_answers},
    Status{"500", "the server failed", of_answers},
    Status{"503", "the server is stopping, or too many large requests arrive", of_all}};

Json responses_of(const Route& route) {
  // Megatron's refusals are strings, or objects with a message.
  const Json error = route.protocol == Protocol::megatron
                         ? Json::object()
                         : Json{{"$ref", "#/components/schemas/Error"}};
  Json responses = {{"200", success_of(route)}};
  if (route.fields != nullptr) {
    responses["400"] = response("a field is wrong, and which one", "application/json", error);
  }
  for (const Status& status : kStatuses) {
    if (status.of(route)) {
      responses[status.code] = response(status.meaning, "application/json", error);
    }
  }
  return responses;
}

/// A name that is unique among operations, as generators of clients want one: method and path with
/// all else replaced.
std::string operation_id(const Route& route) {
  std::string id = route.method;
  id += route.path;
  std::ranges::replace_if(
      id, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return id;
}

Json operation(const Route& route) {
  Json json = {{"summary", route.summary}, {"operationId", operation_id(route)}};
  if (std::string_view(route.path).ends_with('}')) {
    json["parameters"].push_back({{"name", "id"},
                                  {"in", "path"},
                                  {"required", true},
                                  {"schema", {{"type", "string"}, {"minLength", 1}}}});
  }
  if (route.fields != nullptr) {
    json["requestBody"] = body_of(route);
  }
  json["responses"] = responses_of(route);
  json["security"] = route.open ? Json::array() : Json::array({{{"key", Json::array()}}});
  return json;
}

Json error_schema() {
  const Json text = {{"type", "string"}};
  const Json text_or_null = {{"type", {"string", "null"}}};
  return {{"type", "object"},
          {"required", Json::array({"error"})},
          {"properties",
           {{"error",
             {{"type", "object"},
              {"required", {"message", "type", "param", "code"}},
              {"properties",
               {{"message", text},
                {"type", text},
                {"param", text_or_null},
                {"code", text_or_null}}}}}}}};
}

}  // namespace

HttpReply tell_openapi(const ServedModel& model, const HttpRequest& /*request*/) {
  Json paths = Json::object();
  for (const Route& route : routes()) {
    std::string method = route.method;
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    paths[route.path][method] = operation(route);
  }
  return {200,
          dump({{"openapi", "3.1.0"},
                {"info", {{"title", "mpitron"}, {"version", model.version}}},
                {"paths", paths},
                {"components",
                 {{"schemas", {{"Error", error_schema()}}},
                  {"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}}})};
}

}  // namespace mpitron::inference
