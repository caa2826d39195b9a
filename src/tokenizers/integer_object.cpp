#include "tokenizers/integer_object.h"

#include <simdjson.h>

#include "utils/error.h"

namespace mpitron::tokenizers {
namespace dom = simdjson::dom;

std::vector<std::pair<std::string, std::int64_t>> parse_integer_object(std::string_view json) {
  dom::parser parser;
  dom::element root;
  const char* text = json.empty() ? "" : json.data();  // an empty file's view is null; memcpy minds
  if (const auto code = parser.parse(text, json.size()).get(root); code != simdjson::SUCCESS) {
    const std::string why = simdjson::error_message(code);
    throw_data("not valid JSON: {}", why.substr(0, why.find_first_of(".\n")));
  }
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    throw_data("a JSON object of integers is expected");
  }
  std::vector<std::pair<std::string, std::int64_t>> members;
  for (const dom::key_value_pair field : object) {
    std::int64_t value = 0;
    if (field.value.get(value) != simdjson::SUCCESS) {
      throw_data("key \"{}\" must hold an integer", field.key);
    }
    members.emplace_back(field.key, value);
  }
  return members;
}

}  // namespace mpitron::tokenizers
