// The only place of this layer that knows the JSON library.
#include "corpus/record.h"

#include <algorithm>

#include <simdjson.h>

#include "data/preprocess/json_text.h"
#include "utils/error.h"

// Records of a corpus: parsed by simdjson, and written back with as little change as possible.

namespace mpitron::corpus {
namespace dom = simdjson::dom;

struct Record::State {
  dom::parser parser;
  dom::object object;
  std::string line;
  std::string_view found;
};

Record::Record() : state_(std::make_unique<State>()) {}
Record::~Record() = default;
Record::Record(Record&&) noexcept = default;

/// Parses the object; fields keep their order. The line is copied, since the parser reads behind
/// its end.
void Record::parse(std::string_view line) {
  while (line.ends_with('\r') || line.ends_with(' ')) {
    line.remove_suffix(1);
  }
  while (line.starts_with(' ')) {
    line.remove_prefix(1);
  }
  state_->line = line;
  dom::element root;
  if (const auto code = state_->parser.parse(state_->line).get(root); code != simdjson::SUCCESS) {
    const std::string text = simdjson::error_message(code);
    throw_data("not valid JSON: {}", text.substr(0, text.find_first_of(".\n")));
  }
  if (root.get(state_->object) != simdjson::SUCCESS) {
    throw_data("a JSON object is expected");
  }
}

const std::string_view* Record::text(std::string_view key) {
  return state_->object[key].get(state_->found) == simdjson::SUCCESS ? &state_->found : nullptr;
}

/// Returns a text that has to be there; the error names its key and the option.
std::string_view Record::required_text(std::string_view key) {
  const std::string_view* found = text(key);
  if (found == nullptr) {
    throw_data("the object has no text under \"{}\" (--text-key)", key);
  }
  return *found;
}

/// Returns the rest of the line with changed fields; unchanged values are written without blanks.
std::string Record::tail_with(const Changes& changes) const {
  if (changes.empty()) {
    return state_->line.substr(1);
  }
  std::string tail;
  const auto add = [&](std::string_view key, const std::string& value) {
    tail += (tail.empty() ? "" : ", ") + data::quote_json(key) + ": " + value;
  };
  for (const dom::key_value_pair field : state_->object) {
    const auto change = std::ranges::find(changes, field.key, &Changes::value_type::first);
    add(field.key, change != changes.end() ? data::quote_json(change->second)
                                           : std::string(simdjson::minify(field.value)));
  }
  for (const auto& [key, value] : changes) {
    dom::element old;
    if (state_->object[key].get(old) != simdjson::SUCCESS) {
      add(key, data::quote_json(value));
    }
  }
  return tail + "}";
}

}  // namespace mpitron::corpus
