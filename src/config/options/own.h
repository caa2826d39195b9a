#pragma once
#include <array>

#include "config/option.h"

namespace mpitron::config::rows {

// Options that only mpitron has.
inline constexpr std::array kOwn = {
    integer("world-size", none, works, "ranks to check a layout for; a training run knows its own"),
};

}  // namespace mpitron::config::rows
