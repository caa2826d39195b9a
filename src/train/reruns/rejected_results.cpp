// Appends rejected results to a file of the reference's form, and finds the iterations that are to
// be skipped.
#include <charconv>
#include <chrono>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "train/reruns/result_judge.h"
#include "train/run/batch_job.h"
#include "utils/error.h"
#include "utils/system/machine.h"

namespace mpitron::train {
namespace {

/// The value of ` name=value `.
std::string field(const std::string& line, const std::string& name) {
  const auto at = line.find(' ' + name + '=');
  if (at == std::string::npos) {
    return {};
  }
  const auto begin = at + name.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

Index number(const std::string& text) {
  Index value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

bool reproducible(const std::string& status) {
  return status == "RERUN_DISABLED" || status == "FIRST_RERUN_REPRODUCIBLE" ||
         status == "SECOND_RERUN_REPRODUCIBLE";
}

}  // namespace

/// Appends a line in the reference's form.
void record_rejection(const std::filesystem::path& tracker, const Rejection& rejection) {
  std::ofstream file(tracker, std::ios::app);
  file << fmt::format(
      "ts={} node={} device=0 jobID={} rank={} iteration={} status={} result={} "
      "message='{}'\n",
      std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count(),
      host_name(), batch_job_id(), rejection.rank, rejection.iteration, rejection.status,
      rejection.result, rejection.message);
  if (!file.flush()) {
    throw_data("--result-rejected-tracker-filename {}: cannot write", tracker.string());
  }
}

/// Iterations that one rank has rejected twice, with a figure that a rerun gave again; one that
/// several ranks of a job have rejected is not meant by that.
std::vector<Index> rejected_iterations(const std::filesystem::path& tracker) {
  std::ifstream file(tracker);
  std::map<std::pair<Index, Index>, Index> times;                      // of (iteration, rank)
  std::map<std::pair<Index, std::string>, std::set<Index>> job_ranks;  // of (iteration, job)
  Index line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    const Index rank = number(field(line, "rank")), iteration = number(field(line, "iteration"));
    const std::string status = field(line, "status");
    if (rank < 0 || iteration < 0 || status.empty()) {
      throw_data(
          "--result-rejected-tracker-filename {}: line {} has no rank=, iteration= and status=; "
          "name a file that a run with this option wrote, or a new one",
          tracker.string(), line_number);
    }
    if (reproducible(status)) {
      ++times[{iteration, rank}];
      job_ranks[{iteration, field(line, "jobID")}].insert(rank);
    }
  }
  std::set<Index> shared;
  for (const auto& [where, ranks] : job_ranks) {
    if (ranks.size() > 1) {
      shared.insert(where.first);
    }
  }
  std::set<Index> rejected;
  for (const auto& [where, count] : times) {
    if (count > 1 && !shared.contains(where.first)) {
      rejected.insert(where.first);
    }
  }
  return {rejected.begin(), rejected.end()};
}

}  // namespace mpitron::train
