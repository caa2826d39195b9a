#pragma once
#include "pipeline/schedule.h"

namespace mpitron::pipeline {

/// Completes the computations of each stage (`orders`) by the messages between them. Every message
/// gets the place it would have if all forwards took one unit of time, both halves of a backward as
/// well, and messages none. A send stands behind the computation that makes the data. The receive
/// stands
/// - overlapped: before the computation that runs when the data comes, or before the one that
///   precedes its use if that is earlier; its wait right before the use;
/// - else: with its wait in the first gap between two computations after the data came.
/// A joined pair is one computation here: both ends of it wait, start and end together.
/// Both ends thus agree on one order in time, whatever the schedule; that is why nothing deadlocks.
/// A send is waited for before the kSendsInFlight-th one after it in its payload is posted.
std::vector<ActionList> add_communication(const std::vector<ActionList>& orders,
                                          const ScheduleOptions& options);

}  // namespace mpitron::pipeline
