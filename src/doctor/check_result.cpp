#include "doctor/check_result.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/logs/json_text.h"
#include "launch/rank_place.h"

// Results of checks as text between ranks, merged over machines, and as a report.

namespace mpitron::doctor {
namespace {

/// Separators of ASCII's own, which no text of a check holds.
constexpr char kField = '\x1f';
constexpr char kRecord = '\x1e';

constexpr const char* kNames[] = {"ok", "skipped", "warn", "fail"};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

/// A result, and the machines that say it.
struct Opinion {
  CheckResult result;
  std::vector<std::string> nodes;
};

/// Returns the verdicts of all nodes on one check, with who holds which.
std::vector<Opinion> opinions_of(const std::string& name, const std::vector<NodeResults>& nodes) {
  std::vector<Opinion> opinions;
  for (const NodeResults& node : nodes) {
    for (const CheckResult& result : node.results) {
      if (result.name != name) {
        continue;
      }
      const auto same = std::find_if(opinions.begin(), opinions.end(),
                                     [&](const Opinion& o) { return o.result == result; });
      auto& opinion = same == opinions.end() ? opinions.emplace_back(Opinion{result, {}}) : *same;
      opinion.nodes.push_back(node.node);
    }
  }
  return opinions;
}

/// Returns the names of checks in the order in which they first come.
std::vector<std::string> names_of(const std::vector<NodeResults>& nodes) {
  std::vector<std::string> names;
  for (const NodeResults& node : nodes) {
    for (const CheckResult& result : node.results) {
      if (std::find(names.begin(), names.end(), result.name) == names.end()) {
        names.push_back(result.name);
      }
    }
  }
  return names;
}

std::size_t count(const std::vector<CheckResult>& results, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(),
                    [&](const CheckResult& result) { return result.verdict == verdict; }));
}

}  // namespace

const char* to_string(Verdict verdict) {
  return kNames[static_cast<int>(verdict)];
}

/// Fields and records are separated by control characters, which no text holds.
std::string to_text(const std::vector<CheckResult>& results) {
  std::string text;
  for (const CheckResult& r : results) {
    text += fmt::format("{}{}{}{}{}{}{}{}", r.name, kField, static_cast<int>(r.verdict), kField,
                        r.found, kField, r.advice, kRecord);
  }
  return text;
}

/// Inverts `to_text`, for results of other ranks.
std::vector<CheckResult> read_results(const std::string& text) {
  std::vector<CheckResult> results;
  for (const std::string& record : split(text, kRecord)) {
    std::vector<std::string> fields = split(record, kField);
    fields.resize(4);  // an empty last field
    results.push_back(
        {fields[0], static_cast<Verdict>(std::stoi(fields[1])), fields[2], fields[3]});
  }
  return results;
}

/// Makes one line of a verdict that all nodes share; otherwise each is told with its nodes.
std::vector<CheckResult> merge(const std::vector<NodeResults>& nodes) {
  std::vector<CheckResult> merged;
  for (const std::string& name : names_of(nodes)) {
    for (const Opinion& opinion : opinions_of(name, nodes)) {
      CheckResult result = opinion.result;
      if (opinion.nodes.size() < nodes.size()) {
        result.found = launch::name_ranges(opinion.nodes) + ": " + result.found;
      }
      merged.push_back(std::move(result));
    }
  }
  return merged;
}

/// Writes columns of verdict, name and text; remedies below.
std::string to_report(const std::vector<CheckResult>& results) {
  std::size_t width = 0;
  for (const CheckResult& result : results) {
    width = std::max(width, result.name.size());
  }
  std::string text;
  for (const CheckResult& result : results) {
    text += fmt::format("{:<7}  {:<{}}  {}\n", to_string(result.verdict), result.name, width,
                        result.found);
    if (!result.advice.empty()) {
      text += fmt::format("{:<7}  {:<{}}  -> {}\n", "", "", width, result.advice);
    }
  }
  return text + fmt::format("{} ok, {} warn, {} fail, {} skipped", count(results, Verdict::ok),
                            count(results, Verdict::warn), count(results, Verdict::fail),
                            count(results, Verdict::skipped));
}

/// Writes results for scripts, which look for the names: they are stable.
std::string to_json(const std::vector<CheckResult>& results) {
  std::vector<std::string> rows;
  for (const CheckResult& result : results) {
    rows.push_back(fmt::format(R"({{"name": {}, "verdict": "{}", "found": {}, "advice": {}}})",
                               io::json_string(result.name), to_string(result.verdict),
                               io::json_string(result.found), io::json_string(result.advice)));
  }
  return fmt::format(R"({{"ok": {}, "checks": [{}]}})", passed(results), fmt::join(rows, ",\n"));
}

bool passed(const std::vector<CheckResult>& results) {
  return count(results, Verdict::fail) == 0;
}

}  // namespace mpitron::doctor
