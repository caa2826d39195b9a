#include "cli/flags.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::cli {
namespace {

// `_` for `-` in names, never in values.
std::string normalise(std::string word) {
  if (word.starts_with("--")) {
    const auto end =
        word.begin() + static_cast<std::ptrdiff_t>(std::min(word.find('='), word.size()));
    std::replace(word.begin(), end, '_', '-');
  }
  return word;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

struct Flags::State {
  CLI::App app;
  std::string command;
  CLI::Option* last = nullptr;
  std::vector<std::string> names;

  void check_known(const Arguments& arguments) const {
    for (const std::string& argument : arguments) {
      const std::string name = argument.substr(0, argument.find('='));
      if (!name.starts_with("--") || name == "--help" ||
          std::find(names.begin(), names.end(), name) != names.end()) {
        continue;
      }
      const auto nearest =
          std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
            return edit_distance(name, a) < edit_distance(name, b);
          });
      const bool close = nearest != names.end() && edit_distance(name, *nearest) <= 3;
      throw_usage("mpitron {}: unknown option {}{}", command, name,
                  close ? "; did you mean " + *nearest + "?" : "; --help lists the options");
    }
  }
};

Flags::Flags(const std::string& command, const std::string& summary)
    : state_(std::make_unique<State>()) {
  state_->command = command;
  state_->app.name("mpitron " + command);
  state_->app.description(summary);
  state_->app.allow_extras(false);
  state_->app.get_formatter()->column_width(34);
}

Flags::~Flags() = default;

void Flags::option(const std::string& name, std::string& target, const std::string& help) {
  state_->names.push_back(name);
  state_->last = state_->app.add_option(name, target, help)->capture_default_str();
}

void Flags::option(const std::string& name, Index& target, const std::string& help) {
  state_->names.push_back(name);
  state_->last = state_->app.add_option(name, target, help)->capture_default_str();
}

void Flags::option(const std::string& name, double& target, const std::string& help) {
  state_->names.push_back(name);
  state_->last = state_->app.add_option(name, target, help)->capture_default_str();
}

void Flags::option(const std::string& name, std::vector<std::string>& target,
                   const std::string& help) {
  state_->names.push_back(name);
  state_->last = state_->app.add_option(name, target, help)->capture_default_str()->expected(1, -1);
}

void Flags::flag(const std::string& name, bool& target, const std::string& help) {
  state_->names.push_back(name);
  state_->last = state_->app.add_flag(name, target, help);
}

void Flags::required() {
  state_->last->required();
}

void Flags::choices(const std::vector<std::string>& allowed) {
  state_->last->check(CLI::IsMember(allowed));
}

bool Flags::parse(const Arguments& arguments) {
  Arguments words(arguments.size());
  std::transform(arguments.begin(), arguments.end(), words.begin(), normalise);
  state_->check_known(words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    state_->app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    log::print(state_->app.help());
    return false;
  } catch (const CLI::ParseError& error) {
    throw_usage("mpitron {}: {}", state_->command, error.what());
  }
  return true;
}

}  // namespace mpitron::cli
