#include <nlohmann/json.hpp>

#include "config/parse/report.h"

// Option values as JSON, for `config show`, `check` and the files of a run.

namespace mpitron::config {
namespace {

using Json = nlohmann::ordered_json;

/// Keeps the type of the option, so that readers of the JSON need no table.
Json json_word(const Option& option, const std::string& word) {
  if (option.type == Type::boolean) {
    return word == "true";
  }
  if (option.type == Type::integer) {
    return read_integer(word).value_or(0);
  }
  return option.type == Type::real ? Json(read_real(word).value_or(0)) : Json(word);
}

/// Returns null where there is no value: neither given nor by default.
Json json_value(const OptionValues& values, std::size_t slot) {
  const Option& option = option_index().option(slot);
  const auto& words = values.words_at(slot);
  if (!words) {
    return nullptr;
  }
  if (!is_list(option)) {
    return json_word(option, words->at(0));
  }
  Json list = Json::array();
  for (const std::string& word : *words) {
    list.push_back(json_word(option, word));
  }
  return list;
}

}  // namespace

/// Writes one object; with `provenance` each value is an object of value and origin.
std::string values_json(const OptionValues& values, bool provenance) {
  Json json = Json::object();
  for (const std::size_t slot : sorted_slots()) {
    const std::string& name = option_index().dest(slot);
    if (provenance) {
      json[name] = {{"value", json_value(values, slot)},
                    {"origin", to_text(values.origin_at(slot))}};
    } else {
      json[name] = json_value(values, slot);
    }
  }
  return json.dump(2);
}

/// Writes only what somebody gave, not defaults and not what followed from others: enough to repeat
/// a run.
std::string given_values_json(const OptionValues& values) {
  Json json = Json::object();
  for (const std::size_t slot : sorted_slots()) {
    const std::string& name = option_index().dest(slot);
    if (values.given(name)) {
      json[name] = json_value(values, slot);
    }
  }
  return json.dump(2);
}

/// Writes what `check --json` prints: every finding with its id, options and nearest fix.
std::string check_json(const ParsedRun& parsed) {
  Json findings = Json::array();
  for (const Finding& finding : parsed.findings) {
    findings.push_back({{"id", finding.id},
                        {"name", finding.name},
                        {"message", finding.message},
                        {"nearest", finding.nearest},
                        {"options", finding.options}});
  }
  const Json json = {
      {"ok", parsed.findings.empty()}, {"findings", findings}, {"notices", parsed.notices}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mpitron::config
