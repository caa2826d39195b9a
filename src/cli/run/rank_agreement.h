#pragma once
#include <string>

#include "comm/groups/world.h"
#include "config/parse/parse.h"

namespace mpitron::cli {

/// What every rank of a run must have in common, a line for each: its options, the build and the
/// sizes of its corpora. Folders may lie elsewhere on each node and are left out.
std::string common_lines(const config::ParsedRun& parsed, const std::string& build);

/// The first line in which two ranks differ, as "--lr: 0.001 on rank 0, 0.005 on rank 1"; empty
/// where they agree.
std::string first_difference(const std::string& of_rank_0, const std::string& of_other,
                             Index other);

/// Compares these lines by one hash over all ranks; Error(usage) on all of them names the first
/// option that differs, since a rank with other options trains on without a word. Collective.
void require_agreement(comm::World& world, const std::string& lines);

}  // namespace mpitron::cli
