#pragma once
#include <string>
#include <vector>

namespace mpitron::doctor {

/// Judgements of a check, from best to worst; only `fail` makes doctor end with an error.
enum class Verdict { ok, skipped, warn, fail };

const char* to_string(Verdict verdict);

/// The result of one check of a machine.
struct CheckResult {
  std::string name;
  Verdict verdict = Verdict::ok;
  std::string found;   // with numbers
  std::string advice;  // the variable or command that mends it; empty where nothing is to do

  bool operator==(const CheckResult&) const = default;
};

/// Packs results for sending; `read_results` makes the same of it.
std::string to_text(const std::vector<CheckResult>& results);
std::vector<CheckResult> read_results(const std::string& text);

/// The results of a machine.
struct NodeResults {
  std::string node;
  std::vector<CheckResult> results;
};

/// Returns one list for all machines, in the first one's order: results that all share are told
/// once, others for each set of machines that say the same.
std::vector<CheckResult> merge(const std::vector<NodeResults>& nodes);

/// Returns a line for each check, advice below it, the sum at the end.
std::string to_report(const std::vector<CheckResult>& results);
/// Returns {"ok": ..., "checks": [{"name", "verdict", "found", "advice"}, ...]}.
std::string to_json(const std::vector<CheckResult>& results);

/// Returns whether no check failed; warnings are allowed.
bool passed(const std::vector<CheckResult>& results);

}  // namespace mpitron::doctor
