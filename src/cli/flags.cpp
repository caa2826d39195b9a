#include "cli/flags.h"

#include <algorithm>
#include <map>
#include <set>

#include <CLI/CLI.hpp>

#include "config/values/finding.h"
#include "config/values/option_values.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/machine.h"

// CLI11 behind the class Flags. What CLI11 says of an unknown option, a missing value or a
// repetition names neither the command nor the nearest option, so these mistakes are found before
// it parses.

namespace mpitron::cli {
namespace {

constexpr std::size_t kHelpColumn = 34;

/// Replaces `_` by `-` in the name of an option, never in its value.
std::string normalise(std::string word) {
  if (word.starts_with("--")) {
    const auto end =
        word.begin() + static_cast<std::ptrdiff_t>(std::min(word.find('='), word.size()));
    std::replace(word.begin(), end, '_', '-');
  }
  return word;
}

/// Checks the word before CLI11 converts it, whose message hides what is allowed.
CLI::Validator is_number(const char* kind, bool (*reads)(const std::string&)) {
  return {[kind, reads](std::string& word) {
            return reads(word) ? std::string() : fmt::format("takes {}, not '{}'", kind, word);
          },
          ""};
}

}  // namespace

struct Flags::State {
  CLI::App app;
  std::string command;
  CLI::Option* last = nullptr;
  std::vector<std::string> names;
  std::set<std::string> of_one_value, of_several;
  std::map<std::string, std::string> other_names;  // and what they stand for

  /// Turns another spelling of an option into its first one; a value behind `=` stays.
  std::string by_its_own_name(std::string word) const {
    word = normalise(std::move(word));
    const std::size_t end = std::min(word.find('='), word.size());
    const auto other = other_names.find(word.substr(0, end));
    return other == other_names.end() ? word : other->second + word.substr(end);
  }

  /// Throws Error(usage) for unknown options, options without a value and those given twice.
  void check(const Arguments& arguments) const {
    std::set<std::string> given;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string name = arguments[i].substr(0, arguments[i].find('='));
      if (!name.starts_with("--") || name == "--help") {
        continue;
      }
      check_known(name);
      const bool one = of_one_value.contains(name);
      const bool has_value = name.size() < arguments[i].size() ||
                             (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--"));
      if ((one || of_several.contains(name)) && !has_value) {
        throw_usage("mpitron {}: {}: a value must follow", command, name);
      }
      if (one && !given.insert(name).second) {
        throw_usage("mpitron {}: {} is given twice: give it once", command, name);
      }
    }
  }

  void check_known(const std::string& name) const {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string nearest =
          config::did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()));
      throw_usage("mpitron {}: unknown option {}{}", command, name,
                  nearest.empty() ? "; --help lists the options" : nearest);
    }
  }

  /// An option of one value.
  template <class T>
  CLI::Option* add(const std::string& name, T& target, const std::string& help) {
    names.push_back(name);
    of_one_value.insert(name);
    return last = app.add_option(name, target, help)->capture_default_str();
  }
};

std::string none_of(const std::string& word, const std::vector<std::string>& allowed) {
  if (std::ranges::find(allowed, word) != allowed.end()) {
    return "";
  }
  const std::vector<std::string_view> words(allowed.begin(), allowed.end());
  return fmt::format("{} is none of {}{}", word, fmt::join(allowed, ", "),
                     config::did_you_mean(word, words));
}

Flags::Flags(const std::string& command, const std::string& summary, const std::string& operands)
    : state_(std::make_unique<State>()) {
  state_->command = command;
  state_->app.name("mpitron " + command + (operands.empty() ? "" : " " + operands));
  state_->app.description(summary);
  state_->app.allow_extras(false);
  state_->app.get_formatter()->column_width(kHelpColumn);
}

Flags::~Flags() = default;

void Flags::option(const std::string& name, std::string& target, const std::string& help) {
  state_->add(name, target, help);
}

void Flags::option(const std::string& name, Index& target, const std::string& help) {
  state_->add(name, target, help)->check(is_number("a whole number", [](const std::string& word) {
    return config::read_integer(word).has_value();
  }));
}

void Flags::option(const std::string& name, double& target, const std::string& help) {
  state_->add(name, target, help)->check(is_number("a number", [](const std::string& word) {
    return config::read_real(word).has_value();
  }));
}

void Flags::option(const std::string& name, std::vector<std::string>& target,
                   const std::string& help) {
  state_->names.push_back(name);
  state_->of_several.insert(name);
  state_->last = state_->app.add_option(name, target, help)->expected(1, -1);
  if (!target.empty()) {
    state_->last->capture_default_str();
  }
}

void Flags::flag(const std::string& name, bool& target, const std::string& help) {
  state_->names.push_back(name);
  state_->last = state_->app.add_flag(name, target, help);
}

void Flags::also(const std::string& name) {
  state_->other_names.emplace(name, state_->names.back());
}

void Flags::required() {
  state_->last->required();
}

void Flags::choices(const std::vector<std::string>& allowed) {
  const auto refuse = [allowed](const std::string& word) { return none_of(word, allowed); };
  state_->last->check(CLI::Validator(refuse, fmt::format("{{{}}}", fmt::join(allowed, ","))));
}

bool Flags::parse(const Arguments& arguments) {
  Arguments words(arguments.size());
  std::ranges::transform(arguments, words.begin(),
                         [this](const std::string& word) { return state_->by_its_own_name(word); });
  state_->check(words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    state_->app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    std::string help = state_->app.help();
    help.erase(help.find_last_not_of('\n') + 1);
    log::print(for_terminal(help, kHelpColumn));
    return false;
  } catch (const CLI::ParseError& error) {
    throw_usage("mpitron {}: {}", state_->command, error.what());
  }
  return true;
}

}  // namespace mpitron::cli
