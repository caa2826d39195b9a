#include "data/preprocess/json_text.h"

#include <limits>

#include <simdjson.h>

#include "data/preprocess/flat_object.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Texts of JSON objects: by FlatObject where all values are strings, else by simdjson, whose
// messages are told in the words of a user.

namespace mpitron::data {
namespace dom = simdjson::dom;
namespace {

static_assert(JsonTextParser::kPadding >= simdjson::SIMDJSON_PADDING &&
              JsonTextParser::kPadding >= FlatObject::kPadding);

const char* type_name(dom::element_type type) {
  switch (type) {
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "a boolean";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

/// Returns the reason of a failure. Shortens the library's messages, which say how to program with
/// it.
std::string explain(simdjson::error_code code, std::string_view json) {
  if (const std::size_t at = json.find('\0'); at != std::string_view::npos) {
    return fmt::format("a NUL byte at byte {} of the line: the file is damaged, or has a hole", at);
  }
  if (code == simdjson::UTF8_ERROR) {
    for (std::size_t at = 0; at < json.size();) {
      const Utf8Char next = decode_utf8(json.substr(at));
      if (next.bytes == 0) {
        return fmt::format("not valid UTF-8 at byte {} of the line", at);
      }
      at += static_cast<std::size_t>(next.bytes);
    }
  }
  const std::string text = simdjson::error_message(code);
  return "not valid JSON: " + text.substr(0, text.find_first_of(".\n"));
}

/// `padded`: the text is followed by bytes that may be read, and is not copied.
dom::element parse_or_throw(dom::parser& parser, std::string_view json, bool padded) {
  dom::element root;
  const char* text = json.empty() ? "" : json.data();  // an empty file's view is null; memcpy minds
  if (const auto code = parser.parse(text, json.size(), !padded).get(root);
      code != simdjson::SUCCESS) {
    throw_data("{}", explain(code, json));
  }
  return root;
}

dom::object object_or_throw(dom::element root) {
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    throw_data("a JSON object is expected, found {}", type_name(root.type()));
  }
  return object;
}

/// Takes a string, or a list of strings: several sequences of one document.
void append_texts(dom::element value, std::string_view key, std::vector<std::string_view>& texts) {
  texts.clear();
  dom::array list;
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    texts.push_back(text);
    return;
  }
  if (value.get(list) != simdjson::SUCCESS) {
    throw_data("key \"{}\" must hold a string or a list of strings, found {}", key,
               type_name(value.type()));
  }
  for (const dom::element item : list) {
    if (item.get(text) != simdjson::SUCCESS) {
      throw_data("key \"{}\" must hold a list of strings, found {} in it", key,
                 type_name(item.type()));
    }
    texts.push_back(text);
  }
}

}  // namespace

struct JsonTextParser::State {
  FlatObject flat;
  dom::parser parser;
  std::vector<std::vector<std::string_view>> texts;
  std::vector<char> found;
};

JsonTextParser::JsonTextParser() : state_(std::make_unique<State>()) {}
JsonTextParser::~JsonTextParser() = default;
JsonTextParser::JsonTextParser(JsonTextParser&&) noexcept = default;
JsonTextParser& JsonTextParser::operator=(JsonTextParser&&) noexcept = default;

/// Tries the short way first. Of a key that is there twice the last one counts.
std::span<const std::vector<std::string_view>> JsonTextParser::parse(
    std::string_view json, std::span<const std::string> keys) {
  state_->texts.resize(keys.size());
  if (state_->flat.parse(json, keys)) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      state_->texts[k].assign(1, state_->flat.texts()[k]);
    }
    return state_->texts;
  }
  state_->found.assign(keys.size(), 0);
  for (const dom::key_value_pair field :
       object_or_throw(parse_or_throw(state_->parser, json, true))) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (field.key == keys[k]) {
        append_texts(field.value, field.key, state_->texts[k]);
        state_->found[k] = 1;
      }
    }
  }
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (state_->found[k] == 0) {
      throw_data("the object has no key \"{}\" (--json-keys)", keys[k]);
    }
  }
  return state_->texts;
}

/// Error(data) names the key, and what its list must hold.
std::vector<std::int32_t> parse_id_list(std::string_view json, std::string_view key) {
  dom::parser parser;
  dom::array list;
  if (object_or_throw(parse_or_throw(parser, json, false))[key].get(list) != simdjson::SUCCESS) {
    throw_data("a JSON object with a list under \"{}\" is expected", key);
  }
  std::vector<std::int32_t> ids;
  for (const dom::element item : list) {
    std::int64_t id = 0;
    if (item.get(id) != simdjson::SUCCESS || id < 0 ||
        id > std::numeric_limits<std::int32_t>::max()) {
      throw_data("the list under \"{}\" must hold token ids (integers from 0 to {})", key,
                 std::numeric_limits<std::int32_t>::max());
    }
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return ids;
}

/// Writes a JSON string; control characters are escaped, bytes that are no UTF-8 become U+FFFD.
std::string quote_json(std::string_view text) {
  static constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
  static constexpr std::string_view kLetters = "\"\\bfnrt";
  std::string quoted = "\"";
  for (const char c : replace_invalid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F && c != '"' && c != '\\') {
      quoted += c;
    } else if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos) {
      quoted += '\\';
      quoted += kLetters[at];
    } else {
      quoted += fmt::format("\\u{:04x}", byte);
    }
  }
  return quoted + '"';
}

}  // namespace mpitron::data
