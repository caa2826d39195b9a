#include "inference/templates/tool_calls.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "utils/text/blanks.h"
#include "utils/text/json_nesting.h"

// Reads calls of functions back as the families write them: tags with JSON between (Hermes, Qwen),
// one list (Mistral), bare objects (Llama 3).

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOpen = "<tool_call>", kClose = "</tool_call>", kList = "[TOOL_CALLS]";
constexpr std::string_view kPython = "<|python_tag|>";
constexpr std::string_view kCallBlanks = " \t\r\n";
constexpr std::size_t kLongestCall = 1 << 20;  // of what is read as JSON

/// Parses JSON of a size and depth that a call has; discarded otherwise.
Json parse(std::string_view text) {
  return text.size() > kLongestCall || unlike_real_objects(text)
             ? Json(Json::value_t::discarded)
             : Json::parse(text, nullptr, false);
}

/// Reads an object with a name and arguments, which some formats call parameters.
std::optional<ToolCall> call_of(const Json& json) {
  if (!json.is_object() || !json.contains("name") || !json.at("name").is_string()) {
    return std::nullopt;
  }
  const char* field = json.contains("arguments") ? "arguments" : "parameters";
  const Json arguments = json.value(field, Json::object());
  if (!arguments.is_object()) {
    return std::nullopt;
  }
  return ToolCall{json.at("name").get<std::string>(), arguments.dump()};
}

/// A call, and the bytes behind which it ends.
struct EndedCall {
  ToolCall call;
  std::size_t end;
};

/// Reads the call that ends in front of a `mark`: the first one that is not within a text of it.
std::optional<EndedCall> read_call_before(std::string_view text, std::string_view mark) {
  constexpr int kMostMarks = 64;  // each wants the text read again
  std::size_t end = text.find(mark);
  for (int i = 0; i < kMostMarks && end != std::string_view::npos; ++i) {
    if (const auto call = call_of(parse(text.substr(0, end)))) {
      return EndedCall{*call, end};
    }
    end = text.find(mark, end + 1);
  }
  return std::nullopt;
}

CalledText read_tags(const std::string& answer) {
  CalledText result;
  std::size_t from = 0;
  for (std::size_t open = 0; (open = answer.find(kOpen, from)) != std::string::npos;) {
    const std::size_t begin = open + kOpen.size();
    const auto ended = read_call_before(std::string_view(answer).substr(begin), kClose);
    if (!ended) {
      return {answer, {}};
    }
    result.text.append(answer, from, open - from);
    result.calls.push_back(ended->call);
    from = begin + ended->end + kClose.size();
  }
  result.text.append(answer, from);
  result.text =
      result.calls.empty() ? result.text : std::string(stripped(result.text, kCallBlanks));
  return result;
}

CalledText read_list(const std::string& answer) {
  const std::size_t at = answer.find(kList);
  CalledText result{answer.substr(0, std::min(at, answer.size())), {}};
  const Json list =
      at == std::string::npos ? Json() : parse(std::string_view(answer).substr(at + kList.size()));
  for (const Json& each : list.is_array() ? list : Json::array()) {
    if (const auto call = call_of(each)) {
      result.calls.push_back(*call);
    }
  }
  return result.calls.empty() ? CalledText{answer, {}} : result;
}

CalledText read_objects(const std::string& answer) {
  CalledText result;
  std::string_view rest = stripped(answer, kCallBlanks);
  if (rest.starts_with(kPython)) {
    rest.remove_prefix(kPython.size());
  }
  while (!rest.empty()) {
    const auto last = call_of(parse(rest));
    const auto ended = last ? EndedCall{*last, rest.size()} : read_call_before(rest, ";");
    if (!ended) {
      return {answer, {}};
    }
    result.calls.push_back(ended->call);
    rest = stripped(rest.substr(std::min(ended->end + 1, rest.size())), kCallBlanks);
  }
  return result;
}

/// Counts the bytes before the marker, or before what may become it.
std::size_t before_marker(std::string_view answer, std::string_view marker) {
  const std::size_t at = answer.find(marker);
  if (at != std::string_view::npos) {
    return at;
  }
  for (std::size_t size = std::min(marker.size() - 1, answer.size()); size > 0; --size) {
    if (answer.ends_with(marker.substr(0, size))) {
      return answer.size() - size;
    }
  }
  return answer.size();
}

}  // namespace

ToolFormat tool_format(std::string_view chat_template) {
  const auto has = [&](std::string_view part) {
    return chat_template.find(part) != std::string_view::npos;
  };
  return has(kOpen)                                ? ToolFormat::tags
         : has(kList)                              ? ToolFormat::list
         : has(kPython) || has("\"parameters\": ") ? ToolFormat::objects
                                                   : ToolFormat::none;
}

CalledText read_tool_calls(ToolFormat format, const std::string& answer) {
  switch (format) {
    case ToolFormat::tags:
      return read_tags(answer);
    case ToolFormat::list:
      return read_list(answer);
    case ToolFormat::objects:
      return read_objects(answer);
    case ToolFormat::none:
      break;
  }
  return {answer, {}};
}

std::size_t text_before_calls(ToolFormat format, std::string_view answer) {
  switch (format) {
    case ToolFormat::tags:
      return before_marker(answer, kOpen);
    case ToolFormat::list:
      return before_marker(answer, kList);
    case ToolFormat::objects: {
      const std::string_view text = stripped(answer, kCallBlanks);
      const bool may_call = text.empty() || text.front() == '{' || text.starts_with(kPython) ||
                            kPython.starts_with(text);
      return may_call ? 0 : answer.size();
    }
    case ToolFormat::none:
      break;
  }
  return answer.size();
}

}  // namespace mpitron::inference
