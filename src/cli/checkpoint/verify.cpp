#include "checkpoint/folders/verify.h"

#include <unistd.h>

#include "cli/checkpoint_path.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/timer.h"

// `mpitron verify PATH`: reads a checkpoint as a whole, compares the hashes of its seal, and names
// each damaged data set with file and offset. Exit code 0: intact, ExitCode::data: not.

namespace mpitron::cli {
namespace {

/// The damage of a file: a sentence for the whole of it, or its damaged parts.
struct Finding {
  std::string whole;
  checkpoint::Verification data;

  bool intact() const { return whole.empty() && data.damaged.empty(); }
};

/// Turns an error on opening into a finding, so that --json reports a file without a readable
/// header as damaged, too. Long reads log their progress once a second.
Finding look_at(const std::filesystem::path& path) {
  Finding finding;
  Timer since_line;
  try {
    const checkpoint::File file(path);
    finding.data = checkpoint::verify(file, [&](Index done, Index all, double seconds) {
      if (since_line.seconds() > 1.0 && done < all) {
        const double rate = static_cast<double>(done) / seconds;
        log::info("verify: {} of {} ({} %) at {}/s, {:.0f} s left", readable_bytes(done),
                  readable_bytes(all), 100 * done / all, readable_bytes(static_cast<Index>(rate)),
                  static_cast<double>(all - done) / rate);
        since_line.restart();
      }
    });
  } catch (const Error& error) {
    finding.whole = error.what();
  }
  return finding;
}

std::string to_json(const std::filesystem::path& path, const Finding& finding) {
  std::string damaged;
  for (const checkpoint::Damage& damage : finding.data.damaged) {
    damaged +=
        fmt::format(R"({}{{"data_set": {}, "file": {}, "offset": {}, "bytes": {}, "reason": {}}})",
                    damaged.empty() ? "" : ", ", io::json_string(damage.data_set),
                    io::json_string(damage.file.empty() ? path.filename().string() : damage.file),
                    damage.offset, damage.bytes, io::json_string(damage.reason));
  }
  return fmt::format(
      R"({{"file": {}, "intact": {}, "error": {}, "bytes": {}, "seconds": {}, "damaged": [{}]}})",
      io::json_string(path.string()), finding.intact(),
      finding.whole.empty() ? "null" : io::json_string(finding.whole), finding.data.bytes,
      io::json_number(finding.data.seconds), damaged);
}

void print_text(const std::filesystem::path& path, const Finding& finding) {
  if (!finding.whole.empty()) {
    log::print("damaged: " + finding.whole);
    return;
  }
  for (const checkpoint::Damage& damage : finding.data.damaged) {
    log::print("damaged: " + damage.sentence());
  }
  const auto bytes = static_cast<double>(finding.data.bytes);
  log::print(fmt::format("{}: {} in {:.1f} s ({}/s): {}", path.string(),
                         readable_bytes(finding.data.bytes), finding.data.seconds,
                         readable_bytes(static_cast<Index>(bytes / finding.data.seconds)),
                         finding.intact() ? "every byte is as it was written" : "damaged"));
}

}  // namespace

int verify(const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments paths = take_paths(words);
  bool json = false;
  Flags flags(
      "verify",
      "Checks that every byte of a checkpoint is as it was written. PATH: a file, an iter_* "
      "folder, or a folder of checkpoints (its newest). Exit code 0: it is, 4: it is not.",
      "PATH");
  flags.flag("--json", json, "print one JSON object");
  if (!flags.parse(words)) {
    return 0;
  }
  if (paths.size() != 1) {
    throw_usage("verify: one path comes first, given {}: mpitron verify PATH [--json]",
                paths.size());
  }
  const std::filesystem::path path = checkpoint_file(paths[0]);
  const Finding finding = look_at(path);
  if (json) {
    log::print(to_json(path, finding));
  } else {
    print_text(path, finding);
  }
  return static_cast<int>(finding.intact() ? ExitCode::success : ExitCode::data);
}

}  // namespace mpitron::cli
