#include "inference/client/question.h"

#include <nlohmann/json.hpp>

#include "inference/protocol/fields.h"
#include "utils/error.h"

// Questions of `mpitron ask` in the two served protocols, and replies of servers of this or another
// program: streams of events, whole JSON texts, errors.

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the header of a key; empty without one.
std::string bearer(const std::string& api_key) {
  return api_key.empty() ? "" : "Bearer " + api_key;
}

/// Finds a string below a JSON pointer; nothing where there is none.
std::optional<std::string> string_at(const Json& json, const char* place) {
  const Json::json_pointer pointer(place);
  if (json.is_structured() && json.contains(pointer) && json.at(pointer).is_string()) {
    return json.at(pointer).get<std::string>();
  }
  return std::nullopt;
}

}  // namespace

HttpRequest request_of(const Question& question, const std::string& api_key) {
  Json body = Json::object();
  if (question.chat) {
    body["messages"] = Json::array();
    if (!question.system.empty()) {
      body["messages"].push_back({{"role", "system"}, {"content", question.system}});
    }
    body["messages"].push_back({{"role", "user"}, {"content", question.text}});
  } else {
    body["prompt"] = question.text;
  }
  if (!question.model.empty()) {
    body["model"] = question.model;
  }
  if (question.max_tokens) {
    body["max_tokens"] = *question.max_tokens;
  }
  if (question.temperature) {
    body["temperature"] = *question.temperature;
  }
  if (question.seed) {
    body["seed"] = *question.seed;
  }
  body["stream"] = question.stream;
  return {.method = "POST",
          .target = question.chat ? "/v1/chat/completions" : "/v1/completions",
          .authorization = bearer(api_key),
          .body = dump(body)};
}

HttpRequest megatron_request_of(const std::string& prompt, Index tokens) {
  return {.method = "PUT",
          .target = "/api",
          .authorization = {},
          .body = dump({{"prompts", {prompt}}, {"tokens_to_generate", tokens}})};
}

void ReplyReader::take(std::string_view bytes) {
  for (std::size_t end = 0; (end = bytes.find('\n')) != std::string_view::npos;) {
    line_ += bytes.substr(0, end);
    take_line(line_);
    line_.clear();
    bytes.remove_prefix(end + 1);
  }
  line_ += bytes;
}

void ReplyReader::take_line(std::string_view line) {
  if (!line.starts_with("data: ")) {
    body_ += line;
    return;
  }
  const Json event = Json::parse(line.substr(6), nullptr, false);
  if (const auto error = string_at(event, "/error/message")) {
    throw_environment("the answer broke off: {}", *error);
  }
  for (const char* place : {"/choices/0/text", "/choices/0/delta/content"}) {
    if (const auto text = string_at(event, place)) {
      text_(*text);
    }
  }
}

std::optional<std::string> text_of(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  for (const char* place : {"/choices/0/text", "/choices/0/message/content", "/text/0"}) {
    if (const auto text = string_at(json, place)) {
      return text;
    }
  }
  return std::nullopt;
}

std::string message_of(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  for (const char* place : {"/error/message", "/message", ""}) {
    if (const auto text = string_at(json, place)) {
      return *text;
    }
  }
  return json.is_string() ? json.get<std::string>() : body;
}

/// Asks whether the server's model has a chat template; of a server that does not tell, it is
/// assumed.
bool has_chat(const HttpAddress& address, const std::string& api_key) {
  std::string body;
  const int status = ask_http(
      address,
      {.method = "GET", .target = "/tokenizer_info", .authorization = bearer(api_key), .body = {}},
      [&](int, std::string_view bytes) { body += bytes; });
  return status != 200 ||
         string_at(Json::parse(body, nullptr, false), "/chat_template").has_value();
}

}  // namespace mpitron::inference
