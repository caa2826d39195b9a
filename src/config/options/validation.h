#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

inline constexpr std::array kValidation = {
    flag("full-validation", works,
         "evaluate on the whole validation set; --eval-iters then counts for the test set only"),
    flag("multiple-validation-sets", works, "report each corpus of --valid-data-path on its own"),
    integer("eval-iters", "100", works, "iterations of one evaluation"),
    integer("eval-interval", "1000", works,
            "training iterations between two evaluations; 0: only at the end"),
    flag("test-mode", unneeded, "tag for an internal service"),
    flag("skip-train", works, "no training, only the final evaluation"),
};

}  // namespace mpitron::config::rows
