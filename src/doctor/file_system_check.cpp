#include "doctor/file_system_check.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <sys/statfs.h>

#include "checkpoint/plan/agreement.h"
#include "checkpoint/tools/io_bench.h"
#include "utils/system/files.h"

// The folder of a run: its file system, its room, and how fast all ranks together write there.

namespace mpitron::doctor {
namespace {

constexpr double kSlow = 100e6;       // bytes/s: a minute for a model of half a billion weights
constexpr double kGoodEnough = 0.8;   // as io-bench
constexpr double kNearlyFull = 0.05;  // of the whole

struct KnownType {
  unsigned long magic;
  const char* name;
};
/// Magic numbers of statfs(2).
constexpr std::array kTypes = {KnownType{0xEF53, "ext4"},        KnownType{0x58465342, "xfs"},
                               KnownType{0x9123683E, "btrfs"},   KnownType{0x01021994, "tmpfs"},
                               KnownType{0x794C7630, "overlay"}, KnownType{0x6969, "nfs"},
                               KnownType{0x0BD00BD0, "lustre"},  KnownType{0x47504653, "gpfs"},
                               KnownType{0x19830326, "beegfs"},  KnownType{0x00C36400, "ceph"},
                               KnownType{0x65735546, "fuse"},    KnownType{0x2FC12FC1, "zfs"}};

std::string type_name(unsigned long magic) {
  const auto* const known = std::find_if(kTypes.begin(), kTypes.end(),
                                         [&](const KnownType& t) { return t.magic == magic; });
  return known == kTypes.end() ? fmt::format("type {:#x}", magic) : known->name;
}

double fastest(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

/// Writes a small file before all ranks measure together: one that fails then would keep the others
/// waiting.
void try_to_write(const std::filesystem::path& folder, Index rank) {
  const std::filesystem::path probe = folder / fmt::format("doctor.{}", rank);
  AtomicFile file(probe);
  file.write("doctor\n");
  file.commit();
  std::filesystem::remove(probe);
}

}  // namespace

/// Measures writes as a checkpoint would make them, with all ranks at once.
FileSystemFacts read_file_system(const std::filesystem::path& folder, comm::World& world,
                                 Index bytes_per_rank) {
  FileSystemFacts facts{.folder = folder, .type = "", .error = ""};
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) == 0) {
    facts.type = type_name(static_cast<unsigned long>(status.f_type) & 0xFFFFFFFFUL);
    facts.bytes = static_cast<Index>(status.f_blocks) * status.f_bsize;
    facts.free = static_cast<Index>(status.f_bavail) * status.f_bsize;
  }
  const auto all = world.all();
  facts.error = checkpoint::first_error(
      *all, checkpoint::error_of([&] { try_to_write(folder, world.rank()); }));
  if (!facts.error.empty()) {
    return facts;
  }
  const checkpoint::IoTimes times = checkpoint::run_io_bench({.folder = folder,
                                                              .rank = world.rank(),
                                                              .ranks = world.size(),
                                                              .threads = 1,
                                                              .bytes_per_writer = bytes_per_rank,
                                                              .repetitions = 2,
                                                              .barrier = [&] { all->barrier(); }});
  const auto total = static_cast<double>(bytes_per_rank * world.size());
  facts.shared_bytes_per_s = total / fastest(times.shared);
  facts.separate_bytes_per_s = total / fastest(times.separate);
  return facts;
}

/// Judges room and speed; a file system in memory is told as such, however much room it has.
std::vector<CheckResult> check_file_system(const FileSystemFacts& facts) {
  if (!facts.error.empty()) {
    return {{"run directory", Verdict::fail, facts.error,
             "give --run-dir a folder that every node has and that you may write to"}};
  }
  const double share =
      facts.bytes > 0 ? static_cast<double>(facts.free) / static_cast<double>(facts.bytes) : 1;
  CheckResult space{"run directory", Verdict::ok,
                    fmt::format("{}: {}, {} of {} GiB free", facts.folder.string(), facts.type,
                                facts.free >> 30, facts.bytes >> 30),
                    ""};
  if (facts.type == "tmpfs") {
    space.verdict = Verdict::warn;
    space.advice = "this folder is memory: a reboot loses it, and it counts against the job";
  } else if (share < kNearlyFull) {
    space.verdict = Verdict::warn;
    space.advice = "make room: a checkpoint that does not fit ends the run";
  }
  const double best = std::max(facts.shared_bytes_per_s, facts.separate_bytes_per_s);
  CheckResult speed{"run directory speed", Verdict::ok,
                    fmt::format("{:.0f} MB/s into one file, {:.0f} MB/s into one of each rank",
                                facts.shared_bytes_per_s * 1e-6, facts.separate_bytes_per_s * 1e-6),
                    ""};
  if (best < kSlow) {
    speed.verdict = Verdict::warn;
    speed.advice =
        "use the cluster's parallel file system; save rarely (--save-interval) and in "
        "the background (--async-save)";
  } else if (facts.shared_bytes_per_s < kGoodEnough * facts.separate_bytes_per_s) {
    speed.advice = "give runs that save here --save-file-per-writer (mpitron io-bench tells more)";
  }
  return {space, speed};
}

}  // namespace mpitron::doctor
