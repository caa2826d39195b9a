#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <unistd.h>

#include "cli/checkpoint_path.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "report/run_progress.h"
#include "report/status_text.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/machine.h"

// `mpitron status RUN_DIR`: progress of a run from the files it writes, on any machine that sees
// them. --follow prints it again until the run ends.

namespace mpitron::cli {
namespace {

/// Columns of the terminal, else those of COLUMNS, else kUnknown.
int columns_to_fill() {
  constexpr int kUnknown = 80;
  const char* columns = std::getenv("COLUMNS");
  const int given = columns != nullptr ? std::atoi(columns) : 0;
  return terminal_columns(STDOUT_FILENO).value_or(given > 0 ? given : kUnknown);
}

/// Prints the run and returns whether it goes on. `redraw` overwrites the terminal.
bool show(const std::string& path, bool json, bool redraw) {
  const report::RunFolder run = report::read_run(path);
  const auto now = std::filesystem::file_time_type::clock::now();
  const std::string text =
      json ? report::status_json(run, now) : report::status_text(run, now, columns_to_fill());
  if (redraw) {
    std::fputs("\x1b[H\x1b[J", stdout);
  }
  log::print(text);
  return report::progress_of(run, now).goes_on();
}

}  // namespace

int status(const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments paths = take_paths(words);
  bool json = false, follow = false;
  double interval = 2;
  Flags flags("status",
              "Shows how far a run is: state, rate, time left, losses, the loss curve and ranks "
              "that others wait for. RUN_DIR is what --tensorboard-dir or --save named.",
              "RUN_DIR");
  flags.flag("--json", json, "print one JSON object, on one line");
  flags.flag("--follow", follow, "show it again and again until the run ends");
  flags.option("--interval", interval, "seconds between two of those");
  if (!flags.parse(words)) {
    return 0;
  }
  if (paths.size() != 1) {
    throw_usage("status: {} folders given; give one: mpitron status RUN_DIR", paths.size());
  }
  if (!(interval > 0)) {
    throw_usage("status: --interval {}: it must be above 0 seconds", interval);
  }
  const bool redraw = follow && !json && ::isatty(STDOUT_FILENO) == 1;
  while (show(paths[0], json, redraw) && follow) {
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::duration<double>(interval));
  }
  return 0;
}

}  // namespace mpitron::cli
