#include "config/values/finding.h"

#include <fmt/format.h>

namespace mpitron::config {

std::string to_line(const Finding& finding) {
  std::string line = fmt::format("{} {}: {}", finding.id, finding.name, finding.message);
  if (!finding.nearest.empty()) {
    line += fmt::format(" Nearest: {}", finding.nearest);
  }
  return line;
}

std::string to_text(const std::vector<Finding>& findings) {
  std::string text = fmt::format("{} problem{} in this configuration:", findings.size(),
                                 findings.size() == 1 ? "" : "s");
  for (const Finding& finding : findings) {
    text += "\n  " + to_line(finding);
  }
  return text + "\n`mpitron explain ID` says more about one of them.";
}

}  // namespace mpitron::config
