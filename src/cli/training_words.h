#pragma once
#include "cli/command.h"

namespace mpitron::cli {

/// Lets commands that take the options of a training run take its command, too: what a user copies
/// from a script. `pretrain-vlm OPTIONS` becomes `--model vlm OPTIONS`, `pretrain-vision-dino` also
/// names its task; other words stay as they are.
Arguments training_options(const Arguments& words);

}  // namespace mpitron::cli
