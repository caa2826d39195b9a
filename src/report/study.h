#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "report/metrics_log.h"

namespace mpitron::report {

/// One run of a scaling study.
struct StudyPoint {
  std::string name;  // also of its folder
  std::int64_t ranks = 1;
  std::vector<std::string> flags;      // of the study and its own
  double published_tflops = kMissing;  // per rank, of somebody else's measurement
};

/// The work of a study's runs as ranks grow.
enum class ScalingKind {
  weak,   // the work grows with the ranks
  strong  // the same work on more ranks
};

/// Runs of different numbers of ranks that are compared; read from a YAML file:
///
///     name: GPT, weak scaling          kind: weak               # or strong
///     command: pretrain-gpt            warm-up: 5               # iterations that do not count
///     threads-per-rank: 1              peak-tflops: 312         # of a rank, for MFU; optional
///     flags: {seq-length: 2048}        # of all runs, as in --yaml-cfg
///     points:
///       - {name: 1.7B, ranks: 32, published-tflops: 137, flags: {num-layers: 24}}
struct Study {
  std::string name;
  ScalingKind kind = ScalingKind::weak;
  std::string command = "pretrain-gpt";
  std::int64_t warm_up = 5;
  std::int64_t threads_per_rank = 1;
  double peak_tflops = kMissing;
  std::vector<StudyPoint> points;
};

/// Reads a study. Error(usage) with the place of the first mistake: unreadable file, wrong syntax,
/// unknown key, a value of another type, two points of one name, no point.
Study read_study(const std::filesystem::path& path);

}  // namespace mpitron::report
