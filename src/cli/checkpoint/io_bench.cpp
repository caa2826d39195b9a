#include "checkpoint/tools/io_bench.h"

#include "cli/checkpoint_path.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/run/launch.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/numbers/median.h"

// `mpitron io-bench DIR`: times checkpoint::run_io_bench on the ranks of this job and says whether
// runs that save to DIR should write one shared file or, by --save-file-per-writer, one file for
// each writer.

namespace mpitron::cli {
namespace {

/// Share of the speed of separate files from which one shared file is recommended: below it the
/// speed lost costs more than many files cost trouble.
constexpr double kGoodEnough = 0.8;

/// Compares medians, since a shared file system has bursts that a mean would follow.
void report(const checkpoint::IoBench& bench, const checkpoint::IoTimes& times, bool json) {
  const Index writers = bench.ranks * bench.threads;
  const auto bytes = static_cast<double>(writers * bench.bytes_per_writer);
  const double shared = bytes / median(times.shared);
  const double separate = bytes / median(times.separate);
  const bool sharing = shared >= kGoodEnough * separate;
  if (json) {
    log::print(fmt::format(
        R"({{"folder": {}, "writers": {}, "bytes": {}, "repetitions": {}, "shared_bytes_per_s": {}, )"
        R"("separate_bytes_per_s": {}, "recommended": "{}", "flags": "{}"}})",
        io::json_string(bench.folder.string()), writers, static_cast<Index>(bytes),
        bench.repetitions, io::json_number(shared), io::json_number(separate),
        sharing ? "shared" : "separate", sharing ? "" : "--save-file-per-writer"));
    return;
  }
  log::print(fmt::format("{}: {} writers, {} with fsync, medians of {} interleaved pairs",
                         bench.folder.string(), writers, readable_bytes(static_cast<Index>(bytes)),
                         bench.repetitions));
  log::print(fmt::format("one shared file    {}/s", readable_bytes(static_cast<Index>(shared))));
  log::print(fmt::format("a file per writer  {}/s", readable_bytes(static_cast<Index>(separate))));
  log::print(sharing
                 ? "one shared file is right here: checkpoints are written that way"
                 : fmt::format("one shared file is slow here ({:.0f} %): give runs that save here "
                               "--save-file-per-writer",
                               100 * shared / separate));
}

void check_positive(const char* name, Index value) {
  if (value < 1) {
    throw_usage("{} {}: at least 1 is needed", name, value);
  }
}

}  // namespace

int io_bench(const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments paths = take_paths(words);
  checkpoint::IoBench bench{.threads = 2};
  Index megabytes = 256;
  bool json = false;
  Flags flags("io-bench",
              "Measures how fast DIR takes checkpoints: one file that all writers share against a "
              "file for each. Under mpirun or srun every rank writes.",
              "DIR");
  flags.option("--threads", bench.threads, "writers of each rank");
  flags.option("--megabytes", megabytes, "MiB that each writer writes");
  flags.option("--repetitions", bench.repetitions, "measured pairs; one more goes before them");
  flags.flag("--json", json, "print one JSON object");
  if (!flags.parse(words)) {
    return 0;
  }
  if (paths.size() != 1) {
    throw_usage("io-bench: one folder comes first, given {}: mpitron io-bench DIR", paths.size());
  }
  check_positive("--threads", bench.threads);
  check_positive("--megabytes", megabytes);
  check_positive("--repetitions", bench.repetitions);
  bench.folder = paths[0];
  bench.bytes_per_writer = megabytes << 20;
  const auto world = launch_world();
  tell_places(*world);
  const auto all = world->all();
  bench.rank = world->rank();
  bench.ranks = world->size();
  bench.barrier = [&] { all->barrier(); };
  const checkpoint::IoTimes times = checkpoint::run_io_bench(bench);
  if (world->rank() == 0) {
    report(bench, times, json);
  }
  return 0;
}

}  // namespace mpitron::cli
