// Writes and reads `progress.txt`, the reference's log of jobs over which a training went, and
// computes throughput from it.
#include "train/run/progress_log.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "train/run/batch_job.h"
#include "utils/log.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace {

using TimePoint = ProgressLog::Clock::time_point;

constexpr const char* kTimeFormat = "%Y-%m-%d %H:%M:%S";

std::string time_text(TimePoint time) {
  const std::time_t seconds = ProgressLog::Clock::to_time_t(time);
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  char text[32] = {};
  std::strftime(text, sizeof(text), kTimeFormat, &fields);
  return text;
}

std::optional<TimePoint> time_of(const std::string& text) {
  std::tm fields{};
  fields.tm_isdst = -1;
  return ::strptime(text.c_str(), kTimeFormat, &fields) != nullptr
             ? std::optional(ProgressLog::Clock::from_time_t(std::mktime(&fields)))
             : std::nullopt;
}

/// A line's fields between tabs.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result(1);
  for (const char c : line) {
    if (c == '\t') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

/// The number behind `name: ` in one of the cells; 0 without it.
double number(const std::vector<std::string>& line, const std::string& name) {
  for (const std::string& cell : line) {
    if (cell.starts_with(name + ": ")) {
      return std::strtod(cell.c_str() + name.size() + 2, nullptr);
    }
  }
  return 0;
}

double throughput(double flops, std::chrono::duration<double> time, Index world_size) {
  return flops / (std::max(time.count(), 1e-9) * 1e12 * static_cast<double>(world_size));
}

}  // namespace

ProgressLog::ProgressLog(const std::filesystem::path& folder, Index world_size,
                         Clock::time_point now)
    : file_(folder / "progress.txt"), world_size_(world_size), start_(now), first_start_(now) {
  make_folder("--save", folder);
  add("Starting job", now);
  find_first_start();
}

void ProgressLog::add(std::string_view message, Clock::time_point now) const {
  std::ofstream file(file_, std::ios::app);
  file << fmt::format("{}\tJob ID: {}\t# GPUs: {}\t{}\n", time_text(now), batch_job_id(),
                      world_size_, message);
  if (!file.flush()) {
    log::warning("--log-progress: cannot write {}: a line is missing there", file_.string());
  }
}

/// Throughput over several jobs counts from the first of those with as many GPUs, without the
/// operations of the jobs before it.
void ProgressLog::find_first_start() {
  std::ifstream file(file_);
  std::optional<Clock::time_point> first;
  double flops = 0;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> row = cells(line);
    if (row.size() < 4) {
      continue;  // not ours
    }
    if (row[3] == "Saved checkpoint") {
      flops = number(row, "Floating-point operations");
    }
    if (number(row, "# GPUs") != static_cast<double>(world_size_)) {
      first.reset();
    } else if (row[3] == "Starting job" && !first) {
      first = time_of(row[0]);
      first_flops_ = flops;
    }
  }
  first_start_ = first.value_or(start_);
}

void ProgressLog::saved(const SavedProgress& progress, Clock::time_point now) {
  add(fmt::format("{}\tIteration: {}\tJob throughput: {:.1f} TFLOP/s/GPU\tCumulative throughput: "
                  "{:.1f} TFLOP/s/GPU\tFloating-point operations: {:.2e}\tTokens (in billions): "
                  "{:.2f}",
                  progress.asynchronous ? "Saving async checkpoint" : "Saved checkpoint",
                  progress.iteration, throughput(progress.job_flops, now - start_, world_size_),
                  throughput(progress.flops - first_flops_, now - first_start_, world_size_),
                  progress.flops, progress.tokens / 1e9),
      now);
}

}  // namespace mpitron::train
