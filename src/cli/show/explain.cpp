#include <fmt/ranges.h>

#include "cli/commands.h"
#include "config/rules/constraint.h"
#include "config/values/finding.h"
#include "config/values/option_help.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron explain`: the page of a rule (E017) or an option, from the rows that the parser and the
// checks use; `mpitron options`: all options as help or as docs/options.md.

namespace mpitron::cli {

int explain(const Arguments& arguments) {
  constexpr const char* kUsage = "usage: mpitron explain E017 | --num-layers";
  if (arguments.size() != 1) {
    throw_usage("{}", kUsage);
  }
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    log::print(kUsage);
    return 0;
  }
  const std::string& subject = arguments[0];
  if (const auto page = config::explain_rule(subject)) {
    log::print(*page);
    return 0;
  }
  if (const auto page = config::explain_option(subject)) {
    log::print(*page);
    return 0;
  }
  const std::vector<std::string> options =
      config::option_index().similar_names(subject.starts_with("--") ? subject.substr(2) : subject);
  std::vector<std::string_view> near = config::nearest_words(subject, config::rule_names());
  near.insert(near.end(), options.begin(), options.end());
  throw_usage("there is no rule and no option '{}'{}{}{}", subject,
              near.empty() ? "" : "; did you mean ", fmt::join(near, " or "),
              near.empty() ? "" : "?");
}

int options(const Arguments& arguments) {
  if (arguments.empty()) {
    log::print(config::help_text());
    return 0;
  }
  constexpr const char* kUsage = "usage: mpitron options [--markdown]";
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    log::print(kUsage);
    return 0;
  }
  if (arguments.size() != 1 || arguments[0] != "--markdown") {
    throw_usage("{}", kUsage);
  }
  log::print(config::options_markdown());
  return 0;
}

}  // namespace mpitron::cli
