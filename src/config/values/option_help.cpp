#include "config/values/option_help.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/values/finding.h"
#include "config/values/option_values.h"
#include "utils/error.h"
#include "utils/system/machine.h"

// Help and `explain`, written from the rows of the option tables.

namespace mpitron::config {
namespace {

constexpr std::size_t kHelpColumn = 42;

/// Writes one row of --help; later folding keeps its second column.
std::string help_line(const Option& option) {
  const std::string head = fmt::format("  --{} {}", option.name, placeholder(option));
  const std::string start = default_text(option);
  const std::string status =
      option.status == Status::works && option.only.empty() ? "" : status_text(option);
  const std::string tail =
      fmt::format("{}{}{}", option.help, start.empty() ? "" : fmt::format(" (default {})", start),
                  status.empty() ? "" : fmt::format(" [{}]", status));
  return head.size() < kHelpColumn - 1
             ? fmt::format("{:<{}}{}\n", head, kHelpColumn, tail)
             : fmt::format("{}\n{}{}\n", head, std::string(kHelpColumn, ' '), tail);
}

std::string heading(std::string_view group) {
  return fmt::format("\n{} (--help-{}):\n", group, group_slug(group));
}

/// Lists the words for --help-GROUP, each once.
std::vector<std::string> group_slugs() {
  std::vector<std::string> slugs;
  for (const OptionTable& table : option_tables()) {
    if (const std::string slug = group_slug(table.group); slugs.empty() || slugs.back() != slug) {
      slugs.push_back(slug);
    }
  }
  return slugs;
}

}  // namespace

std::string placeholder(const Option& option) {
  std::string word;
  if (!option.choices.empty()) {
    word = fmt::format("{{{}}}", fmt::join(split_words(option.choices), ","));
  } else {
    constexpr const char* kWords[] = {"BOOL", "INT", "NUMBER", "TEXT", "INT|LIST"};
    word = kWords[static_cast<int>(option.type)];
  }
  switch (option.kind) {
    case Kind::flag:
    case Kind::flag_off:
      return "";
    case Kind::value:
      return word;
    case Kind::words:
      return word + " ...";
    case Kind::any_words:
      return "[" + word + " ...]";
  }
  return word;
}

std::string default_text(const Option& option) {
  return option.kind == Kind::flag || option.kind == Kind::flag_off || !option.default_value
             ? ""
             : std::string(*option.default_value);
}

/// Turns "Transformer-Engine" and "data and dataloader" into one word each.
std::string group_slug(std::string_view group) {
  std::string slug;
  for (const char c : group) {
    slug +=
        c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return slug;
}

/// Writes the whole page, by groups.
std::string help_text() {
  std::string text =
      "Options have the names of Megatron-LM and are written --name value or --name=value, never "
      "abbreviated.\n"
      "--yaml-cfg FILE reads them from a file; --help-GROUP shows one group; `mpitron explain "
      "--name` one option.\n";
  std::string_view before;
  for (const OptionTable& table : option_tables()) {
    text += table.group == before ? "" : heading(table.group);
    before = table.group;
    for (const Option& option : table.rows) {
      text += help_line(option);
    }
  }
  return text;
}

/// Writes one group; several tables may have its name.
std::string help_text(std::string_view group) {
  std::string text;
  for (const OptionTable& table : option_tables()) {
    if (group_slug(table.group) == group) {
      text += text.empty() ? heading(table.group) : "";
      for (const Option& option : table.rows) {
        text += help_line(option);
      }
    }
  }
  if (text.empty()) {
    const std::vector<std::string> slugs = group_slugs();
    const std::vector<std::string_view> words(slugs.begin(), slugs.end());
    const std::string nearest = did_you_mean(group, words);
    throw_usage("there is no option group '{}'{}", group,
                nearest.empty() ? fmt::format("; groups: {}", fmt::join(words, ", ")) : nearest);
  }
  return text.substr(1);
}

/// Returns nothing where no help was asked for; an unknown group is Error(usage) with the names
/// that exist.
std::optional<std::string> requested_help(const std::vector<std::string>& arguments) {
  constexpr std::string_view kPrefix = "--help-";
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      return for_terminal(help_text(), kHelpColumn);
    }
    if (argument.starts_with(kPrefix)) {
      return for_terminal(help_text(std::string_view(argument).substr(kPrefix.size())),
                          kHelpColumn);
    }
  }
  return std::nullopt;
}

/// Writes what `explain --name` prints.
std::optional<std::string> explain_option(std::string_view name) {
  const OptionIndex& index = option_index();
  const std::size_t slot = index.slot_of_name(name.starts_with("--") ? name.substr(2) : name);
  if (slot == OptionIndex::kNotFound) {
    return std::nullopt;
  }
  const Option& option = index.option(slot);
  std::string text = fmt::format(
      "--{} {}\n\n{}\n\nGroup:   {}\nStored:  {}\nDefault: {}\nStatus:  {}\n", option.name,
      placeholder(option), option.help, index.group(slot), index.dest(slot),
      option.default_value ? std::string(*option.default_value) : "none", status_text(option));
  return option.alias.empty()
             ? text
             : text + fmt::format("Also:    --{}\n", fmt::join(split_words(option.alias), " --"));
}

}  // namespace mpitron::config
