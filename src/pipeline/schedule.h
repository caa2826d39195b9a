#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stage_layout.h"
#include "utils/numbers/shape.h"

namespace mpitron::pipeline {

enum class ScheduleKind {
  no_pipelining,             // one stage: forward and backward of one microbatch after the other
  one_forward_one_backward,  // 1F1B: PipeDream-Flush, as in the reference
  interleaved,               // several chunks per stage (Narayanan et al. 2021)
  zero_bubble,  // ZB-H1 (Qi et al. 2023): weight gradients are deferred into the bubble
};

enum class ActionKind : std::uint8_t {
  forward,
  backward,         // gradients of inputs and of weights
  backward_input,   // zero bubble: gradients of inputs only ...
  backward_weight,  // ... and those of weights, later; ends the life of the tape
  receive,          // post; the data is there after the wait
  wait_receive,
  send,  // post; the buffer is free after the wait
  wait_send,
};

enum class Payload : std::uint8_t { none, activation, gradient };

/// One step of a stage. (chunk, microbatch) is always the computation of *this* stage that makes or
/// needs the data: `receive activation` gets the input of its forward, `send activation` its
/// output, `receive gradient` the gradient of its output, `send gradient` that of its input.
struct Action {
  ActionKind kind = ActionKind::forward;
  Payload payload = Payload::none;
  Index chunk = 0;
  Index microbatch = 0;
  Index peer_stage = -1;  // sends, receives and waits: the other end
  Index peer_chunk = -1;
  /// Says of a forward that it runs together with the backward that follows it at once, each while
  /// the other waits for other ranks.
  bool joined = false;
  bool is_compute() const { return kind <= ActionKind::backward_weight; }
  bool operator==(const Action&) const = default;
};

using ActionList = std::vector<Action>;

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::one_forward_one_backward;
  Index stages = 1;
  Index chunks = 1;
  Index microbatches = 1;
  /// Microbatches that a chunk runs before the next chunk's turn; 0 stands for `stages`.
  Index microbatch_group_size_per_virtual_stage = 0;
  /// Receives are posted at least one computation before their use. Otherwise a message is received
  /// between two computations: fewer buffers, nothing hidden. Sends finish behind computations.
  bool overlap_p2p_comm = true;
  /// Says whether in the steady state the forward of one microbatch and the backward of another one
  /// run together (--overlap-moe-expert-parallel-comm); not for 1F1B and zero-bubble.
  bool join_passes = false;
  bool forward_only = false;  // evaluation: no tape, no backward

  Index group_size() const {
    return microbatch_group_size_per_virtual_stage > 0 ? microbatch_group_size_per_virtual_stage
                                                       : stages;
  }
};

/// A schedule is data: what every stage does, in order. An executor of stage s plays stages[s]:
///
/// - forward: make the tape of (chunk, microbatch), call StageCallbacks::forward; a joined one and
///   the backward behind it: call StageCallbacks::forward_and_backward;
/// - backward, backward_input, backward_weight: play (part of) that tape; it dies with `backward`
///   or `backward_weight`;
/// - send, receive: post a non-blocking message on the channel of (sender, receiver, payload), and
///   keep its handle under (payload, direction, chunk, microbatch); wait_*: wait for it.
///
/// Guarantees, which `simulate` proves: the messages of a channel are posted in the same order at
/// both ends, so that no tag is needed beside the payload; no deadlock, whether sends are buffered
/// or wait for their receives, if no channel waits for another one (a backend that runs its
/// messages one after the other needs a queue per channel); at most kSendsInFlight sends of a
/// payload are unfinished.
struct Schedule {
  ScheduleOptions options;
  std::vector<ActionList> stages;
};

/// Posted and not waited for, per stage and payload.
inline constexpr Index kSendsInFlight = 2;

/// All that an executor has to know of the model. `Value` is the hidden state that travels (a
/// tensor). The first virtual stage gets an empty input and gives an empty gradient; the last gives
/// an empty output (it keeps the loss) and gets an empty gradient.
template <class Value>
struct StageCallbacks {
  /// Input -> output.
  std::function<Value(Index chunk, Index microbatch, Value input)> forward;
  /// Gradient of the output -> gradient of the input. Serves `backward` with weights and
  /// `backward_input` without.
  std::function<Value(Index chunk, Index microbatch, Value gradient, bool with_weights)> backward;
  /// Does what backward(..., with_weights = false) left.
  std::function<void(Index chunk, Index microbatch)> backward_weight;

  /// One pass of a joined pair, and what it is given.
  struct Pass {
    Index chunk, microbatch;
    Value value;
  };
  /// Returns what `forward` and `backward` with weights return.
  std::function<std::pair<Value, Value>(Pass forward, Pass backward)> forward_and_backward;
};

/// The kind that the reference takes: none with one stage, interleaved with several chunks.
ScheduleKind default_kind(Index stages, Index chunks);

/// `no-pipelining`, `1f1b`, `interleaved`, `zero-bubble`.
std::string_view to_string(ScheduleKind kind);

/// An action in words, such as `send gradient of chunk 0, microbatch 3, to stage 1 chunk 0`.
std::string describe(const Action& action);

/// Makes the options that the configuration asks for. Without interleaving messages always overlap
/// (the reference overlaps them with interleaving only; the bits are the same).
ScheduleOptions make_schedule_options(const config::ParallelConfig& parallel,
                                      const StageLayout& layout, Index microbatches);

/// The actions of all stages. Error(usage) for numbers that the kind cannot have; a schedule of 64
/// stages, 4 chunks and 512 microbatches (1.5 million actions) takes well under a second.
Schedule make_schedule(const ScheduleOptions& options);

/// A forward of the interleaved order; the same slot of the backwards has the chunks reversed.
struct ScheduleSlot {
  Index microbatch = 0;
  Index chunk = 0;
  bool operator==(const ScheduleSlot&) const = default;
};

/// The forwards of every stage, in order: groups of microbatches, each through all chunks. The last
/// group may be shorter. Source: get_schedule_table of the reference.
std::vector<ScheduleSlot> interleaved_table(const ScheduleOptions& options);

/// Forwards before the first backward of a stage: 2 (stages - stage - 1) + (chunks - 1) group, at
/// most all. `extra`: 1 where the expert exchange overlaps with the other direction's computations.
Index interleaved_warmup(const ScheduleOptions& options, Index stage, Index extra = 0);

/// Computations of one stage: warm-up forwards, then forward and backward by turns, then the
/// remaining backwards. Source: forward_backward_pipelining_with_interleaving of the reference and
/// Narayanan et al. 2021, section 2.2.
ActionList interleaved_order(const ScheduleOptions& options, Index stage);

/// Forwards before the first backward of a stage: min(stages - stage - 1, microbatches).
Index one_forward_one_backward_warmup(const ScheduleOptions& options, Index stage);

/// Computations of one stage: warm-up forwards, then forward and backward by turns, then the
/// remaining backwards. Source: forward_backward_pipelining_without_interleaving of the reference.
ActionList one_forward_one_backward_order(const ScheduleOptions& options, Index stage);

/// Computations of the only stage: forward and backward of one microbatch after the other.
ActionList no_pipelining_order(const ScheduleOptions& options);

/// Computations of one stage in ZB-H1 (Qi et al., "Zero Bubble Pipeline Parallelism", 2023): 1F1B
/// with backward split in two; stage s runs the weight gradients `s` microbatches late, so that
/// gradients of inputs travel earlier and the late weight gradients fill the end. With equal costs
/// the bubble is a third of 1F1B's. At most min(microbatches, stages) tapes are alive on any stage,
/// as on the first stage of 1F1B.
ActionList zero_bubble_order(const ScheduleOptions& options, Index stage);

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
