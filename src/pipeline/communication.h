#pragma once
#include "pipeline/schedule.h"

namespace mpitron::pipeline {

/// Completes the computations of each stage (`orders`) by the messages between them. Every message
/// gets the place it would have if all forwards took one unit of time, both halves of a backward as
/// well, and messages none: at the sender behind the computation that makes the data, at the
/// receiver
/// - overlapped: before the computation that runs when the data comes, or before the one that
///   precedes its use if that is earlier; the wait stands right before its use;
/// - else: in the first gap between two computations after the data came, where all messages of the
///   gap are posted and then waited for.
/// Both ends thus agree on one order in time, whatever the schedule; that is why nothing deadlocks.
std::vector<ActionList> add_communication(const std::vector<ActionList>& orders,
                                          const ScheduleOptions& options);

}  // namespace mpitron::pipeline
