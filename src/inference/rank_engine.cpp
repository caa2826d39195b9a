#include "inference/rank_engine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "checkpoint/plan/agreement.h"

// Several ranks as one engine. The first rank plans and broadcasts; all ranks compute; the first
// rank of each replica's last stage returns logits. While nothing is to do, signs of life keep the
// watchdogs of the waiting ranks quiet.

namespace mpitron::inference {
namespace {

/// add_adapter: a folder, a word for each character; drop_adapter: a number.
enum class Message : std::int64_t { step, sign_of_life, add_adapter, drop_adapter, end };

/// A message is its kind, the number of all words, and words; what does not fit into the first
/// broadcast comes with a second one.
constexpr std::size_t kFirstWords = 1024;

device::TensorView view_of(std::int64_t* words, std::size_t count) {
  return {words, DType::i64, {static_cast<Index>(count)}};
}

void send_to_all(comm::World& world, Message kind, std::vector<std::int64_t>& words) {
  words[0] = static_cast<std::int64_t>(kind);
  words[1] = static_cast<std::int64_t>(words.size());
  words.resize(std::max(words.size(), kFirstWords));
  const auto all = world.all();
  all->broadcast(view_of(words.data(), kFirstWords), 0).wait();
  if (words.size() > kFirstWords) {
    all->broadcast(view_of(words.data() + kFirstWords, words.size() - kFirstWords), 0).wait();
  }
}

/// Until something arrives; who has waited for a while does so with little of the processor. A
/// first rank that gives no sign of life is one that the watchdog tells of.
void wait_patiently(comm::Work work) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kEager = std::chrono::milliseconds(5);
  constexpr auto kNap = std::chrono::microseconds(100);
  constexpr auto kPatience = std::chrono::seconds(20);
  const Clock::time_point start = Clock::now();
  while (!work.test()) {
    const auto waited = Clock::now() - start;
    if (waited > kPatience) {
      return work.wait();
    }
    if (waited > kEager) {
      std::this_thread::sleep_for(kNap);
    } else {
      std::this_thread::yield();
    }
  }
}

/// The words of a message; kind and size are its first two.
void receive(comm::World& world, std::vector<std::int64_t>& words) {
  words.resize(kFirstWords);
  const auto all = world.all();
  wait_patiently(all->broadcast(view_of(words.data(), kFirstWords), 0));
  const auto size = static_cast<std::size_t>(words[1]);
  words.resize(size);
  if (size > kFirstWords) {
    all->broadcast(view_of(words.data() + kFirstWords, size - kFirstWords), 0).wait();
  }
}

void append_text(const std::string& text, std::vector<std::int64_t>& words) {
  words.insert(words.end(), text.begin(), text.end());
}

std::string text_of(std::span<const std::int64_t> words) {
  std::string text;
  for (const std::int64_t word : words) {
    text.push_back(static_cast<char>(word));
  }
  return text;
}

/// The rank that has the logits of each replica.
std::vector<Index> leaders_of(const comm::RankGrid& grid) {
  const comm::Grid& dense = grid.dense();
  std::vector<Index> leaders;
  for (Index replica = 0; replica < dense.size(comm::Axis::data); ++replica) {
    leaders.push_back(replica * dense.stride(comm::Axis::data) +
                      (dense.size(comm::Axis::pipeline) - 1) * dense.stride(comm::Axis::pipeline));
  }
  return leaders;
}

}  // namespace

/// Divides the cache: blocks are counted over the ranks that share sequences, whose number the
/// scheduler must know.
RankEngine::RankEngine(device::Device& device, const models::Model& model, const RankPlace& place,
                       const comm::RankGrid& grid, EngineShape shape,
                       std::vector<AdapterHandle> adapters)
    : shape_(shape),
      worker_(device, model, place, shape, std::move(adapters)),
      leaders_(leaders_of(grid)),
      nobody_(static_cast<std::size_t>(place.replicas), &nothing_),
      logits_(static_cast<std::size_t>(place.replicas)) {
  const Index blocks = shape.blocks;
  shape_ = worker_.runner().shape();
  shape_.blocks = blocks / shape_.block_owners * shape_.block_owners;
  shape_.snapshots = shape.snapshots;
  // A first pass of everybody makes all layers take their memory.
  StepPlan first;
  const TokenIds ids = {0};
  const std::vector<Index> block = {0};
  first.sequences.push_back({.tokens = ids, .blocks = block, .state_to = shape_.states - 1});
  const std::vector<const StepPlan*> plans(static_cast<std::size_t>(place.replicas), &first);
  start(plans);
  finish();
}

RankEngine::~RankEngine() {
  words_.assign(2, 0);
  send_to_all(worker_.place().world, Message::end, words_);
}

void RankEngine::idle() {
  drop_unused_adapters();
  words_.assign(2, 0);
  send_to_all(worker_.place().world, Message::sign_of_life, words_);
}

AdapterHandle RankEngine::load_adapter(const std::string& folder, const AdapterReader& read) {
  words_.assign(2, 0);
  append_text(folder, words_);
  send_to_all(worker_.place().world, Message::add_adapter, words_);
  AdapterHandle adapter = read_together(*worker_.place().world.all(), read, folder);
  worker_.add(adapter);
  return adapter;
}

/// An answer that was given up may leave rows of its adapter in steps under way: these end before.
void RankEngine::drop_unused_adapters() {
  for (const Index number : worker_.adapters().unused()) {
    const Index since = unused_adapters_.try_emplace(number, ticks_).first->second;
    if (flights_.empty() || ticks_ >= since + depth()) {
      words_.assign(2, 0);
      words_.push_back(number);
      send_to_all(worker_.place().world, Message::drop_adapter, words_);
      worker_.drop(number);
      unused_adapters_.erase(number);
    }
  }
}

void RankEngine::tick(std::span<const StepPlan* const> plans) {
  drop_unused_adapters();
  words_.assign(2, 0);
  append_plans(plans, words_);
  const std::size_t size = words_.size();
  send_to_all(worker_.place().world, Message::step, words_);
  worker_.tick(std::span(words_).first(size).subspan(2));
  ++ticks_;
}

void RankEngine::start(std::span<const StepPlan* const> plans) {
  Flight& flight = flights_.emplace_back();
  flight.tick = ticks_;
  for (const StepPlan* plan : plans) {
    Index& rows = flight.rows.emplace_back(0);
    for (const SequenceStep& sequence : plan->sequences) {
      rows += sequence.rows();
    }
  }
  tick(plans);
}

/// Waits for the oldest plan. With a pipeline, empty plans push it through the stages behind it.
void RankEngine::finish() {
  const Flight flight = std::move(flights_.front());
  flights_.pop_front();
  while (ticks_ < flight.tick + depth()) {
    tick(nobody_);
  }
  const RankPlace& place = worker_.place();
  for (std::size_t r = 0; r < logits_.size(); ++r) {
    logits_[r].resize(static_cast<std::size_t>(flight.rows[r] * shape_.padded_vocabulary));
    if (logits_[r].empty()) {
      continue;
    }
    if (leaders_[r] == place.world.rank()) {
      std::ranges::copy(worker_.logits(), logits_[r].begin());
    } else {
      const device::TensorView view(logits_[r].data(), DType::f32,
                                    {static_cast<Index>(logits_[r].size())});
      place.world.all()->receive(view, leaders_[r]).wait();
    }
  }
}

/// Follows the first rank on all others: receives plans, runs them, and ends when it is told to. A
/// folder that cannot be read is the first rank's to tell.
void RankEngine::follow(device::Device& device, const models::Model& model, const RankPlace& place,
                        const EngineShape& shape, std::vector<AdapterHandle> adapters,
                        const AdapterReader& read) {
  RankWorker worker(device, model, place, shape, std::move(adapters));
  std::vector<std::int64_t> words;
  for (;;) {
    receive(place.world, words);
    const auto kind = static_cast<Message>(words[0]);
    const auto rest = std::span<const std::int64_t>(words).subspan(2);
    if (kind == Message::end) {
      return;
    }
    if (kind == Message::step) {
      worker.tick(rest);
    } else if (kind == Message::add_adapter) {
      checkpoint::error_of(
          [&] { worker.add(read_together(*place.world.all(), read, text_of(rest))); });
    } else if (kind == Message::drop_adapter) {
      worker.drop(rest[0]);
    }
  }
}

}  // namespace mpitron::inference
