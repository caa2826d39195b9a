#pragma once
#include "cli/command.h"

namespace mpitron::cli {

/// `mpitron plan FLAGS --world-size N --dry-run all`: the program of every class of ranks, played
/// without devices and peers, and the proof that all ranks fit together; exit code 23 where they do
/// not. `--dry-run RANK`: what that rank does.
int plan_dry_run(const Arguments& arguments);

}  // namespace mpitron::cli
