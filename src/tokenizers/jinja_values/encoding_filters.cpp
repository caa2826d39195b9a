#include <algorithm>

#include <fmt/format.h>

#include "tokenizers/jinja_values/filter_parts.h"
#include "utils/error.h"

// Jinja's filters that encode values as HTML, as part of a URL or as JSON, and read JSON; tojson is
// that of transformers (no escapes of HTML, keys in their order).

namespace mpitron::tokenizers::jinja {
namespace {

/// Escapes HTML as markupsafe does.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&#34;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// Keeps the characters that urllib.parse.quote keeps, and the slash.
std::string url_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("_.-~/").find(c) != std::string_view::npos;
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

/// Takes transformers' parameters, or Jinja's: an integer in the first place is an indentation.
Value tojson_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound =
      arguments.bind("tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style{.sorted = bound.truthy(3, false), .ascii = bound.truthy(0, false)};
  // The first place is `indent` in Jinja's own filter, which templates were written for as well.
  const std::size_t indent = bound.has(0) && bound[0].is_integer() && !bound[0].is_bool() ? 0 : 1;
  if (indent == 0) {
    style.ascii = false;
  }
  if (bound.has(indent) && !bound[indent].is_none()) {
    style.indent = bound[indent].text() != nullptr
                       ? *bound[indent].text()
                       : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(
                                         bound.integer(indent, 0), 0, 100)),
                                     ' ');
    style.between = ",";
  }
  if (bound.has(2) && !bound[2].is_none()) {
    const List* pair = bound[2].list();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].text() == nullptr ||
        (*pair)[1].text() == nullptr) {
      throw Fault("separators of tojson are a pair of texts");
    }
    style.between = *(*pair)[0].text();
    style.behind_key = *(*pair)[1].text();
  }
  return run.text(json_of(run, value, style));
}

Value from_json_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("from_json", {});
  const std::string text = text_of(run, value);
  run.spend(text.size());
  try {
    return value_of_json(text);
  } catch (const Error& error) {
    throw Fault(error.what());
  }
}

}  // namespace

std::span<const FilterRow> encoding_filters() {
  static constexpr FilterRow kRows[] = {
      {"escape", change_filter<escaped>},
      {"e", change_filter<escaped>},
      {"forceescape", change_filter<escaped>},
      {"urlencode", change_filter<url_encoded>},
      {"tojson", tojson_filter},
      {"from_json", from_json_filter},
  };
  return kRows;
}

}  // namespace mpitron::tokenizers::jinja
