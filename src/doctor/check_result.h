#pragma once
#include <string>
#include <vector>

namespace mpitron::doctor {

enum class Verdict { ok, skipped, warn, fail };

const char* to_string(Verdict verdict);

/// What one check says of a machine.
struct CheckResult {
  std::string name;
  Verdict verdict = Verdict::ok;
  std::string found;   // with numbers
  std::string advice;  // the variable or command that mends it; empty where nothing is to do

  bool operator==(const CheckResult&) const = default;
};

/// For sending; `read_results` makes the same of it.
std::string to_text(const std::vector<CheckResult>& results);
std::vector<CheckResult> read_results(const std::string& text);

/// What a machine says of itself.
struct NodeResults {
  std::string node;
  std::vector<CheckResult> results;
};

/// One list for all machines, in the first one's order: results that all share are told once,
/// others for each set of machines that say the same.
std::vector<CheckResult> merge(const std::vector<NodeResults>& nodes);

/// For people: a line for each check, advice below it, the sum at the end.
std::string to_report(const std::vector<CheckResult>& results);
/// {"ok": ..., "checks": [{"name", "verdict", "found", "advice"}, ...]}
std::string to_json(const std::vector<CheckResult>& results);

/// No check failed; warnings are allowed.
bool passed(const std::vector<CheckResult>& results);

}  // namespace mpitron::doctor
