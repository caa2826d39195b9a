#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on restarts without leaving the process, the group `In-process restart` of Megatron's
// arguments.py: known by name, not there yet.
inline constexpr std::array kInProcessRestart = {
    flag("inprocess-restart", later, "restart inside the process after a fault"),
    integer("inprocess-max-iterations", none, later, "restarts before giving up"),
    real("inprocess-monitor-thread-interval", "1.0", later,
         "seconds between looks of the monitor thread"),
    real("inprocess-monitor-process-interval", "1.0", later,
         "seconds between looks of the monitor process"),
    real("inprocess-progress-watchdog-interval", "1.0", later,
         "seconds between automatic signs of life"),
    real("inprocess-heartbeat-interval", "30", later, "seconds between heartbeats"),
    real("inprocess-soft-timeout", "60", later, "seconds without progress until a soft restart"),
    real("inprocess-hard-timeout", "90", later,
         "seconds without progress until the process is killed"),
    real("inprocess-heartbeat-timeout", "60", later,
         "seconds without a heartbeat until a rank counts as lost"),
    real("inprocess-barrier-timeout", "120", later,
         "seconds ranks wait for each other at a restart"),
    real("inprocess-completion-timeout", "120", later,
         "seconds ranks wait for each other at the end"),
    real("inprocess-last-call-wait", "1", later, "seconds for other ranks to report faults"),
    real("inprocess-termination-grace-time", "1", later,
         "seconds between the request to end and the kill"),
    text("inprocess-granularity", "node", later, "replace ranks or whole nodes")
        .choose("node rank"),
    integer("inprocess-active-world-size", "1", later, "ranks that train; the others are spare"),
    flag("inprocess-empty-cuda-cache", later, "empty the GPU memory cache at a restart"),
};

inline constexpr std::array kFtPackage = {
    flag("enable-ft-package", later, "heartbeats for a job supervisor"),
    flag("calc-ft-timeouts", later, "learn the supervisor's time limits"),
};

}  // namespace mpitron::config::rows
