#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/run_folder.h"
#include "report/study.h"

namespace mpitron::report {

/// Expectations for a point by its layout and by a model of the machine.
struct PointOutlook {
  double bubble = 0;      // idle over busy time of the pipeline (`mpitron plan`)
  double core_share = 1;  // cores that a rank's threads have, at most 1: ranks may outnumber cores
  // By a model of the machine: an iteration, and its largest parts in words.
  double model_seconds = kMissing;
  double model_tokens_per_second = kMissing;
  double model_tflops = kMissing;  // of a rank
  std::string model_parts = {};
};

/// One line of a study's report; kMissing for what was not measured.
struct ScalingRow {
  std::string name;
  std::int64_t ranks = 1;
  double seconds_per_iteration = kMissing;  // median behind the warm-up
  double tokens_per_second = kMissing;
  double tflops_per_rank = kMissing;
  double utilisation = kMissing;  // MFU: of the study's peak
  double efficiency = kMissing;   // FLOP/s per rank over those of the first measured point
  double predicted = kMissing;    // tokens/s, see below
  double published_tflops = kMissing;
  double model = kMissing;        // tokens/s by a model of the machine
  double model_error = kMissing;  // of its iteration, over the measured one less 1
  double model_tflops = kMissing;
  std::string model_parts = {};
};

/// Returns the rows of all points. The prediction lets every rank compute as fast as one of the
/// first measured point, and takes off what pipeline and shared cores cost: what is missing to it
/// is communication and imbalance. `runs`, `outlooks`: one for each point; a run that is absent was
/// not made.
std::vector<ScalingRow> scaling_rows(const Study& study,
                                     const std::vector<std::optional<RunFolder>>& runs,
                                     const std::vector<PointOutlook>& outlooks);

/// Returns a table for terminals.
std::string scaling_text(const std::vector<ScalingRow>& rows);
/// Returns one line for each row below a line of names; what is missing is blank.
std::string scaling_csv(const std::vector<ScalingRow>& rows);

}  // namespace mpitron::report
