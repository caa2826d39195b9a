#pragma once

#include "config/sources/given_option.h"

// What becomes of an option that is accepted.

namespace mpitron::config {

struct Accepted {
  OptionValues values;
  Reading report;
};

inline Accepted accept(const std::string& name, std::vector<std::string> words) {
  Accepted out;
  accept_option(
      {option_index().slot_of_name(name), std::move(words), {Origin::Source::command_line, {}}},
      out.values, out.report);
  return out;
}

inline std::string only_id(const Accepted& accepted) {
  return accepted.report.findings.size() == 1 ? accepted.report.findings[0].id : "";
}

}  // namespace mpitron::config
