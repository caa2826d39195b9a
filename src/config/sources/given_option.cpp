#include "config/sources/given_option.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "utils/error.h"
#include "utils/text/utf8.h"

// The check of one option as it was given: number of words, their type and choices, and whether
// this version can obey it. Each mistake is a finding with the nearest word.

namespace mpitron::config {
namespace {

std::string dashed(const Option& option) {
  return "--" + std::string(option.name);
}

std::string where(const Origin& origin) {
  return origin.source == Origin::Source::yaml ? fmt::format("{}: ", origin.detail) : "";
}

bool contains_word(std::string_view list, const std::string& word) {
  const std::vector<std::string> words = split_words(list);
  return std::find(words.begin(), words.end(), word) != words.end();
}

Finding finding(const char* id, const char* name, const Option& option, std::string message,
                std::string nearest) {
  return {id, name, std::move(message), std::move(nearest), {dashed(option)}};
}

/// Stores flags as true or false. The reference prints its attention backends as AttnBackend.flash
/// but reads only flash: both are read here.
std::vector<std::string> normalized(const Option& option, std::vector<std::string> words) {
  constexpr std::string_view kPrefix = "AttnBackend.";
  for (std::string& word : words) {
    if (option.name == "attention-backend" && word.starts_with(kPrefix)) {
      word.erase(0, kPrefix.size());
    }
  }
  if (is_flag(option)) {
    words = {option.kind == Kind::flag ? "true" : "false"};
  }
  return words;
}

/// Returns true if the value may be used although the option as a whole is not there (its default,
/// or a part that works).
bool is_harmless(const Option& option, const std::vector<std::string>& words) {
  if (!option.only.empty()) {
    return std::all_of(words.begin(), words.end(),
                       [&](const auto& w) { return contains_word(option.only, w); });
  }
  return is_default(option, words);
}

std::string as_written(const Option& option, const std::vector<std::string>& words) {
  return is_flag(option) ? dashed(option)
                         : fmt::format("{} {}", dashed(option), fmt::join(words, " "));
}

/// Returns a value that works today in place of one that does not.
std::string nearest_today(const Option& option) {
  if (!option.only.empty()) {
    return fmt::format("--{} {}", option.name, fmt::join(split_words(option.only), " | "));
  }
  const bool has_word =
      option.kind == Kind::value && option.default_value && !option.default_value->empty();
  return has_word ? fmt::format("--{} {}", option.name, *option.default_value) : "leave it out";
}

/// Adds what the option's status has to say; false: the value must not be stored.
bool check_status(const Option& option, const GivenOption& given,
                  const std::vector<std::string>& words, Reading& report) {
  const std::string text = where(given.origin) + as_written(option, words);
  const std::string instead =
      option.replacement.empty() ? "" : fmt::format("; use {}", option.replacement);
  switch (option.status) {
    case Status::works:
    case Status::later:
      if ((option.status == Status::works && option.only.empty()) || is_harmless(option, words)) {
        return true;
      }
      report.findings.push_back(finding(
          ids::kNotYet, "not_there_yet", option,
          fmt::format("{} does not work in this version of mpitron ({}).", text, option.help),
          nearest_today(option)));
      return true;  // stored all the same, so that the rules of layouts can be told
    case Status::neutral:
      return true;
    case Status::unneeded:
    case Status::deprecated:
      if (is_default(option, words)) {
        return true;
      }
      report.notices.push_back(
          option.status == Status::unneeded
              ? fmt::format("{} has no effect here ({})", text, option.help)
              : fmt::format("{} is deprecated ({}){}", text, option.help, instead));
      return true;
    case Status::removed:
      report.findings.push_back(finding(ids::kRemoved, "removed_option", option,
                                        fmt::format("{} was removed.", text),
                                        std::string(option.replacement)));
      return false;
    case Status::refused:
      if (is_harmless(option, words)) {
        return true;
      }
      report.findings.push_back(
          finding(ids::kRefused, "refused_option", option,
                  fmt::format("{} cannot have a meaning here ({}).", text, option.help),
                  std::string(option.replacement)));
      return false;
  }
  return true;
}

}  // namespace

/// Compares by value and not by spelling: 1e-4 and 0.0001 are the same default.
bool is_default(const Option& option, const std::vector<std::string>& words) {
  const std::optional<std::vector<std::string>> start = default_words(option);
  if (!start || start->size() != words.size()) {
    return false;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::optional<double> a = read_real(words[i]);
    const std::optional<double> b = read_real((*start)[i]);
    if (a && b ? *a != *b : words[i] != (*start)[i]) {
      return false;
    }
  }
  return true;
}

/// Proposes names that are similar by distance in letters or by their beginning.
Finding unknown_option(std::string_view name, const Origin& origin) {
  const std::vector<std::string> similar = option_index().similar_names(name);
  return {ids::kUnknownOption,
          "unknown_option",
          fmt::format("{}there is no option --{}.", where(origin), name),
          fmt::format("{}", fmt::join(similar, " | ")),
          {"--" + std::string(name)}};
}

/// Tells removed and refused options here, before any rule sees their values.
void accept_option(const GivenOption& given, OptionValues& values, Reading& report) {
  const Option& option = option_index().option(given.slot);
  const std::string mistake = count_mistake(option, given.words.size());
  if (!mistake.empty()) {
    report.findings.push_back(
        finding(ids::kWordCount, "word_count", option,
                fmt::format("{}{} {} (given: '{}').", where(given.origin), dashed(option), mistake,
                            fmt::join(given.words, " ")),
                ""));
    return;
  }
  const std::vector<std::string> words = normalized(option, given.words);
  bool valid = true;
  for (const std::string& word : words) {
    const WordCheck check = check_word(option, word);
    if (!check.expected.empty()) {
      valid = false;
      report.findings.push_back(finding(
          ids::kBadValue, "bad_value", option,
          fmt::format("{}{} takes {}, not '{}'.", where(given.origin), dashed(option),
                      check.expected, replace_invalid_utf8(word)),
          check.nearest.empty() ? "" : fmt::format("{} {}", dashed(option), check.nearest)));
    }
  }
  if (valid && check_status(option, given, words, report)) {
    values.set(given.slot, words, given.origin);
  }
}

}  // namespace mpitron::config
