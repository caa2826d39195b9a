#include "comm/groups/clock_offset.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "utils/trace.h"

namespace mpitron::comm {
namespace {

constexpr int kRounds = 16;
using Answer = std::array<std::int64_t, 2>;  // time, origin

TensorView view_of(std::int64_t* numbers, Index n) {
  return {numbers, DType::i64, {n}};
}

void answer(Group& all, Index rank, std::int64_t origin) {
  for (int round = 0; round < kRounds; ++round) {
    std::int64_t question = 0;
    all.receive(view_of(&question, 1), rank).wait();
    Answer answer = {Trace::now(), origin};
    all.send(view_of(answer.data(), 2), rank).wait();
  }
}

ClockOffset ask(Group& all) {
  ClockOffset best{.uncertainty = std::numeric_limits<std::int64_t>::max()};
  for (int round = 0; round < kRounds; ++round) {
    std::int64_t question = round;
    Answer answer = {};
    const std::int64_t begin = Trace::now();
    all.send(view_of(&question, 1), 0).wait();
    all.receive(view_of(answer.data(), 2), 0).wait();
    const std::int64_t end = Trace::now();
    if ((end - begin) / 2 < best.uncertainty) {
      best = {.offset = answer[0] - (begin + (end - begin) / 2),
              .uncertainty = (end - begin) / 2,
              .origin = answer[1]};
    }
  }
  return best;
}

}  // namespace

ClockOffset measure_clock(World& world, const std::vector<Index>& ranks) {
  const auto all = world.all();
  if (world.rank() == 0) {
    const std::int64_t origin = Trace::now();
    for (const Index rank : std::set<Index>(ranks.begin(), ranks.end())) {
      if (rank != 0) {
        answer(*all, rank, origin);
      }
    }
    return {.origin = origin};
  }
  const bool asks = std::find(ranks.begin(), ranks.end(), world.rank()) != ranks.end();
  return asks ? ask(*all) : ClockOffset{};
}

}  // namespace mpitron::comm
