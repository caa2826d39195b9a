#include "plan/time/half_layer.h"
#include "plan/time/product_time.h"

// Time of attention between its products with weights.

namespace mpitron::plan {
namespace {

constexpr double kFlashBackward = 2.5;  // operations, over those of the forward pass
constexpr double kNarrowHead = 0.9;     // rate of heads less than 128 wide
constexpr double kMergedBytes = 10;     // a part of 2 bytes read, its sum of 4 read and written

/// Returns the visible keys of a query over all keys, in the mean over a sequence: half of them for
/// a causal one; with a window its width on each visible side, less the triangle that the end of
/// the sequence there lacks; of a chunk half.
double visible_share(const nn::ScoreWork& scores, double sequence) {
  if (scores.chunk > 0 && static_cast<double>(scores.chunk) < sequence) {
    return static_cast<double>(scores.chunk) / sequence / 2;
  }
  if (scores.window && static_cast<double>(*scores.window) < sequence) {
    const double w = static_cast<double>(*scores.window) / sequence;
    return scores.causal ? w - w * w / 2 : 2 * w - w * w;
  }
  return scores.causal ? 0.5 : 1;
}

/// Mean number of a ring's kernels that a query takes part in. A rank has one piece from the
/// front of the sequence and one from its back: keys of earlier ranks meet both pieces, those of
/// later ranks the back alone.
double kernels_of_a_query(const HalfLayer& half) {
  return (3 * half.job.context() + 1) / 4;
}

/// Outputs of a ring's kernels are summed up, and so are inputs' gradients behind them.
void add_merging(const HalfLayer& half, double width, LayerTime& result) {
  if (half.job.context() > 1) {
    const double bytes = kMergedBytes * half.job.tokens() * width * kernels_of_a_query(half);
    const double seconds = half.stack.elementwise * bytes / half.memory_rate();
    result.forward.elementwise += seconds;
    result.backward.elementwise += seconds;
  }
}

/// Scores written to memory, and passes of softmax, mask and dropout over them.
void add_unfused_scores(const HalfLayer& half, const nn::ScoreWork& scores, double all,
                        LayerTime& result) {
  const double s = half.job.sequence(), d = Job::real(scores.key_width);
  const double batches = all / (s * s);
  const double odd = scores.key_width % 8 != 0 ? half.stack.odd_heads : 1;
  const double one = product_time(half.machine, {s, s, d, batches, Precision::bf16}) +
                     product_time(half.machine, {s, d, s, batches, Precision::bf16});
  result.forward.attention = half.stack.attention * (odd * one + 9 * all / half.memory_rate());
  result.backward.attention =
      half.stack.attention * (2 * odd * one + 11 * all / half.memory_rate());
}

}  // namespace

/// Times attention, as a fused kernel or with scores written to memory.
void add_scores(const HalfLayer& half, LayerTime& result) {
  if (!half.work.scores) {
    return;
  }
  const nn::ScoreWork& scores = *half.work.scores;
  const double heads = Job::real(scores.heads) / half.job.tensor();
  const double all = half.job.sequence() * half.job.tokens() * heads;  // visible or not
  if (half.stack.unfused_attention > 0) {
    add_unfused_scores(half, scores, all, result);
  } else {
    const double width = Job::real(scores.key_width + scores.value_width);
    const double narrow = scores.key_width < 128 ? kNarrowHead : 1;
    const double operations =
        2 * all * width * visible_share(scores, half.job.sequence()) / narrow *
        half.stack.attention *
        (1 + half.machine.attention_half * kernels_of_a_query(half) / half.job.sequence());
    result.forward.attention = operations / (half.machine.peak_16 * half.machine.attention_forward);
    result.backward.attention =
        kFlashBackward * operations / (half.machine.peak_16 * half.machine.attention_backward);
    add_merging(half, heads * Job::real(scores.value_width), result);
  }
  if (half.stack.unfused_attention > 0 && half.again(config::RecomputeModule::core_attn)) {
    result.backward.attention += result.forward.attention;
  }
}

}  // namespace mpitron::plan
