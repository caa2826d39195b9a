#include "config/parse/report.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

// Option values as text: the dump at a run's start in the form of Megatron's logs, which scripts
// parse, and forms for `config show`.

namespace mpitron::config {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Writes a word as Python prints it, since parsers of the reference's dump read these words.
std::string display_word(const Option& option, const std::string& word) {
  if (option.type == Type::boolean) {
    return word == "true" ? "True" : "False";
  }
  return option.type == Type::text && is_list(option) ? "'" + word + "'" : word;
}

/// Writes a row as the reference's logs have it: 48 columns of name and dots.
std::string row(std::size_t slot, const std::string& value) {
  const std::string& name = option_index().dest(slot);
  const std::string dots(name.size() < 48 ? 48 - name.size() : 0, '.');
  return fmt::format("  {} {} {}", name, dots, value);
}

}  // namespace

bool is_list(const Option& option) {
  return option.kind == Kind::words || option.kind == Kind::any_words;
}

std::vector<std::size_t> sorted_slots() {
  const OptionIndex& index = option_index();
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < index.size(); ++slot) {
    if (index.group(slot) != kOlderNamesGroup) {
      slots.push_back(slot);
    }
  }
  std::sort(slots.begin(), slots.end(), [&](std::size_t a, std::size_t b) {
    return lower(index.dest(a)) < lower(index.dest(b));
  });
  return slots;
}

/// Writes lists in brackets and "None" without a value: the form of the reference's argument dump.
std::string display_value(const OptionValues& values, std::size_t slot) {
  const Option& option = option_index().option(slot);
  const auto& words = values.words_at(slot);
  if (!words) {
    return "None";
  }
  if (!is_list(option)) {
    return display_word(option, words->at(0));
  }
  std::vector<std::string> shown;
  for (const std::string& word : *words) {
    shown.push_back(display_word(option, word));
  }
  return fmt::format("[{}]", fmt::join(shown, ", "));
}

/// Lists all options in the order of their names.
std::vector<std::pair<std::string, std::string>> display_values(const OptionValues& values) {
  std::vector<std::pair<std::string, std::string>> shown;
  for (const std::size_t slot : sorted_slots()) {
    shown.emplace_back(option_index().dest(slot), display_value(values, slot));
  }
  return shown;
}

/// Writes a line for each option; with `provenance` the origin of its value stands behind it.
std::string values_text(const OptionValues& values, bool provenance) {
  std::string text;
  for (const std::size_t slot : sorted_slots()) {
    const std::string value = display_value(values, slot);
    text += provenance ? fmt::format("{} # {}\n", row(slot, fmt::format("{:<24}", value)),
                                     to_text(values.origin_at(slot)))
                       : row(slot, value) + "\n";
  }
  return text;
}

/// Writes the dump at the start of a run. Without `all` it has only what differs from its default,
/// and how many others there are.
std::string arguments_block(const OptionValues& values, bool all) {
  std::string rows;
  Index defaults = 0;
  for (const std::size_t slot : sorted_slots()) {
    if (!all && values.origin_at(slot).source == Origin::Source::default_value) {
      ++defaults;
    } else {
      rows += row(slot, display_value(values, slot)) + "\n";
    }
  }
  return "------------------------ arguments ------------------------\n" + rows +
         "-------------------- end of arguments ---------------------" +
         (all ? ""
              : fmt::format("\n{} more have their default values; --print-all-arguments "
                            "prints them",
                            defaults));
}

}  // namespace mpitron::config
