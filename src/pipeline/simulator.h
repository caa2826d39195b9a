#pragma once
#include <string>
#include <vector>

#include "pipeline/schedule.h"

namespace mpitron::pipeline {

/// Time of each computation and message, in any unit; `backward` takes backward_input +
/// backward_weight.
struct Costs {
  double forward = 1;
  double backward_input = 1;
  double backward_weight = 1;
  double latency = 0;

  double of(ActionKind kind) const;
};

enum class Transport {
  buffered,    // a send is finished at once
  rendezvous,  // a send is finished when its receive is posted and the data has travelled
};

struct ComputeSpan {
  Action action;
  double start = 0;
  double end = 0;
};

struct StageSimulation {
  std::vector<ComputeSpan> spans;  // computations, in order
  double busy = 0;                 // sum of the computations
  Index peak_live_tapes = 0;       // from forward to `backward` or `backward_weight`
  Index peak_received = 0;         // messages between the post of the receive and the use
  Index peak_sends = 0;            // posted sends not waited for
};

struct Simulation {
  /// Empty: proven. Otherwise the first thing that is wrong, as a sentence; then nothing else below
  /// means anything.
  std::string problem;
  double makespan = 0;
  std::vector<StageSimulation> stages;

  /// Idle time over computing time of the busiest stage, makespan / busy - 1: the papers' bubble
  /// fraction.
  double bubble() const;
};

/// Plays a schedule. Proves that every computation runs once, with its data there and in legal
/// order, that every message is sent, received and waited for once by the right neighbours, that a
/// channel (sender, receiver, payload) is used in the same order at both ends, and that no stage
/// waits for ever.
Simulation simulate(const Schedule& schedule, const Costs& costs = {},
                    Transport transport = Transport::rendezvous);

}  // namespace mpitron::pipeline
