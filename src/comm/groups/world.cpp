#include "comm/groups/world.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

#include "utils/system/machine.h"
#include "utils/trace.h"

// What every kind of world has in common, and the measurement of clocks: a rank asks rank 0 for its
// time sixteen times, and the answer that came back fastest counts (Cristian 1989).

namespace mpitron::comm {

std::shared_ptr<Group> World::all() {
  std::vector<Index> ranks(static_cast<std::size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), Index{0});
  return make_group("world", ranks);
}

std::string World::host(Index) const {
  return host_name();
}

std::unique_ptr<device::Allocator> World::make_allocator() {
  return std::make_unique<device::CachingHostAllocator>();
}

namespace {

constexpr int kRounds = 16;
using Answer = std::array<std::int64_t, 2>;  // time, origin

TensorView view_of(std::int64_t* numbers, Index n) {
  return {numbers, DType::i64, {n}};
}

/// Answers as fast as it can: the time between question and answer is what the asker is unsure of.
void answer(Group& all, Index rank, std::int64_t origin) {
  for (int round = 0; round < kRounds; ++round) {
    std::int64_t question = 0;
    all.receive(view_of(&question, 1), rank).wait();
    Answer answer = {Trace::now(), origin};
    all.send(view_of(answer.data(), 2), rank).wait();
  }
}

/// The fastest way there and back bounds the error by half its time.
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

/// Ranks ask one after the other, so that no answer waits behind another rank's.
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
