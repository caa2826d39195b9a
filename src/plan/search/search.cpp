#include "plan/search/search.h"

#include <algorithm>
#include <numeric>

// Walks over all layouts that divide a model, its batch and its GPUs, gives each the least
// recomputation that fits in memory, and sorts what fits by predicted time.

namespace mpitron::plan {
namespace {

using config::RecomputeGranularity;
using config::RecomputeModule;
using config::ShardingStrategy;

constexpr Index kLongestOfOneRank = 16384;  // tokens of a sequence, before context is split
constexpr Index kMostChunks = 16;

std::vector<Index> divisors(Index value, Index most) {
  std::vector<Index> result;
  for (Index divisor = 1; divisor <= std::min(value, most); ++divisor) {
    if (value % divisor == 0) {
      result.push_back(divisor);
    }
  }
  return result;
}

/// Nested loops over the sizes of a layout: each level tries what the outer ones leave possible.
class SpaceWalk {
 public:
  SpaceWalk(const Machine& machine, const SearchSpace& space)
      : machine_(machine), space_(space), run_(space.job.run), layers_(run_.model.all_layers()) {}

  std::vector<Layout> walk() {
    layout_.gpus = run_.parallel.world_size;
    const auto node = static_cast<Index>(machine_.node_gpus);
    /// Tensor ranks divide heads and key groups, and stay within a node.
    const Index heads = std::gcd(run_.model.num_attention_heads,
                                 run_.model.multi_latent_attention ? run_.model.num_attention_heads
                                                                   : run_.model.num_query_groups);
    for (const Index tensor : choices("tp", divisors(std::gcd(heads, node), node))) {
      layout_.tensor = tensor;
      for (const Index context : choices("cp", contexts())) {
        layout_.context = context;
        for (const Index pipeline : choices("pp", pipelines())) {
          layout_.pipeline = pipeline;
          walk_stages();
        }
      }
    }
    return std::move(found_);
  }

 private:
  /// Returns the user's value where the key is fixed, even one that is not among `all`.
  std::vector<Index> choices(const char* key, std::vector<Index> all) const {
    const auto fixed = space_.fixed.find(key);
    return fixed == space_.fixed.end() ? all : std::vector<Index>{fixed->second};
  }

  /// Splits sequences only as long as a rank's part is at least half of what one rank takes.
  std::vector<Index> contexts() const {
    std::vector<Index> result = {1};
    for (Index c = 2; run_.model.seq_length / c >= kLongestOfOneRank / 2; c *= 2) {
      result.push_back(c);
    }
    return result;
  }

  std::vector<Index> pipelines() const {
    return divisors(layout_.gpus / (layout_.tensor * layout_.context), layers_);
  }

  void walk_stages() {
    if (layout_.gpus % (layout_.tensor * layout_.context * layout_.pipeline) != 0) {
      return;
    }
    for (const Index chunks : choices("vp", chunk_counts())) {
      layout_.chunks = chunks;
      for (const Index expert : choices("ep", experts())) {
        layout_.expert = expert;
        for (const Index expert_tensor : choices("etp", expert_tensors())) {
          layout_.expert_tensor = expert_tensor;
          walk_batches();
        }
      }
    }
  }

  /// Returns 1, and the numbers of chunks that have equally many layers each.
  std::vector<Index> chunk_counts() const {
    std::vector<Index> result = {1};
    for (Index chunks = 2; chunks <= kMostChunks && layout_.pipeline > 1; ++chunks) {
      const Index parts = layout_.pipeline * chunks;
      if (parts <= layers_ &&
          (divides_evenly(layers_, parts, false) || divides_evenly(layers_, parts, true))) {
        result.push_back(chunks);
      }
    }
    return result;
  }

  Index of_a_stage() const { return layout_.gpus / layout_.pipeline; }

  /// Returns the divisors of the experts that also divide the GPUs of a stage.
  std::vector<Index> experts() const {
    if (!run_.model.moe) {
      return {1};
    }
    std::vector<Index> result = divisors(run_.model.moe->num_experts, of_a_stage());
    std::erase_if(result, [&](Index e) { return of_a_stage() % e != 0; });
    return result;
  }

  /// Experts are whole or cut as the dense layers are.
  std::vector<Index> expert_tensors() const {
    const bool two = run_.model.moe && layout_.tensor > 1 &&
                     of_a_stage() % (layout_.expert * layout_.tensor) == 0;
    return two ? std::vector<Index>{1, layout_.tensor} : std::vector<Index>{1};
  }

  void walk_batches() {
    const Index data = layout_.data(), batch = run_.training.global_batch_size;
    for (const Index size : choices("mbs", {1, 2, 4, 8, 16})) {
      const Index at_once = size * data;
      const bool interleaves = layout_.chunks > 1;
      if (batch % at_once != 0 || (interleaves && batch / at_once % layout_.pipeline != 0)) {
        continue;
      }
      layout_.micro_batch = size;
      for (const Index full : choices("fsdp", {0, 1})) {
        /// Full sharding would gather weights for every microbatch of every stage.
        if (full == 0 || (layout_.pipeline == 1 && data > 1)) {
          layout_.sharding =
              full == 0 ? ShardingStrategy::optim : ShardingStrategy::optim_grads_params;
          found_.push_back(layout_);
        }
      }
    }
  }

  const Machine& machine_;
  const SearchSpace& space_;
  const config::RunConfig& run_;
  Index layers_;
  Layout layout_;
  std::vector<Layout> found_;
};

/// Measures layouts of one run, which it changes in place.
class Measure {
 public:
  Measure(const Machine& machine, const Stack& stack, const SearchSpace& space, double memory)
      : machine_(machine), stack_(stack), job_(space.job), memory_(memory) {}

  /// Returns the candidate that recomputes nothing where that fits, else the faster one of cheap
  /// modules and as few whole layers as it takes; none where nothing fits. `least`: gets the
  /// smallest memory that was tried then.
  std::optional<Candidate> fit(const Layout& layout, Candidate& least) {
    apply(layout, job_.run);
    set({});
    /// Most layouts of a large model end here, before any layer is weighed.
    if (state_alone() > memory_) {
      least = weigh(layout);
      return std::nullopt;
    }
    if (Candidate plain = weigh(layout); plain.memory.total() <= memory_) {
      return timed(plain);
    }
    set(cheap_modules());
    std::optional<Candidate> best;
    if (Candidate cheap = weigh(layout); cheap.memory.total() <= memory_) {
      best = timed(cheap);
    }
    if (const auto whole = fit_whole_layers(layout, least)) {
      best = best && best->time.seconds() <= whole->time.seconds() ? best : whole;
    }
    return best;
  }

 private:
  void set(const config::RecomputeConfig& recompute) {
    static_cast<config::RecomputeConfig&>(job_.run.model) = recompute;
  }

  /// Returns the modules whose forward pass is a small share of the layer's.
  config::RecomputeConfig cheap_modules() const {
    config::RecomputeConfig recompute{.recompute_granularity = RecomputeGranularity::selective,
                                      .recompute_modules = {RecomputeModule::layernorm}};
    if (job_.run.model.moe) {
      recompute.recompute_modules.push_back(RecomputeModule::moe_act);
    }
    if (job_.run.model.multi_latent_attention) {
      recompute.recompute_modules.push_back(RecomputeModule::mla_up_proj);
    }
    return recompute;
  }

  /// Returns weights, gradients and optimizer state if all were cut as evenly as can be: a lower
  /// bound. Experts count as nothing: their cut depends on more.
  double state_alone() const {
    const double ranks = job_.stages() * job_.tensor();
    const double data = job_.data() * job_.context();
    const bool full = job_.run.parallel.sharding_strategy == ShardingStrategy::optim_grads_params;
    const double dense = job_.run.model.moe ? 0 : job_.work->weights() / ranks;
    return dense * (12 / data + (2 + job_.gradient_bytes()) / (full ? data : 1));
  }

  /// Returns the layout with the memory of its fullest stage, not timed.
  Candidate weigh(const Layout& layout) const {
    const std::vector<RankMemory> stages = stage_memory(job_);
    const auto fullest = std::ranges::max_element(stages, {}, &RankMemory::total);
    return {.layout = layout,
            .recompute = job_.run.model,
            .memory = *fullest,
            .fullest_stage = std::distance(stages.begin(), fullest),
            .time = {}};
  }

  Candidate timed(Candidate candidate) const {
    candidate.time = step_time({machine_, stack_, job_});
    return candidate;
  }

  /// Finds the fewest layers of a chunk that have to be recomputed, by bisection: memory falls with
  /// their number.
  std::optional<Candidate> fit_whole_layers(const Layout& layout, Candidate& least) {
    const Index parts = layout.pipeline * layout.chunks;
    Index most = (job_.run.model.all_layers() + parts - 1) / parts, fewest = 1;
    const auto with = [&](Index layers) {
      set({.recompute_granularity = RecomputeGranularity::full,
           .recompute_method = config::RecomputeMethod::block,
           .recompute_num_layers = layers});
      return weigh(layout);
    };
    Candidate found = with(most);
    if (found.memory.total() > memory_) {
      least = found;
      return std::nullopt;
    }
    while (fewest < most) {
      const Index middle = (fewest + most) / 2;
      if (Candidate fewer = with(middle); fewer.memory.total() <= memory_) {
        found = fewer;
        most = middle;
      } else {
        fewest = middle + 1;
      }
    }
    set(found.recompute);
    return timed(found);
  }

  const Machine& machine_;
  const Stack& stack_;
  Job job_;
  double memory_;
};

}  // namespace

std::vector<Layout> layouts_of(const Machine& machine, const SearchSpace& space) {
  return SpaceWalk(machine, space).walk();
}

SearchResult search(const Machine& machine, const Stack& stack, const SearchSpace& space,
                    double memory) {
  SearchResult result;
  Measure measure(machine, stack, space, memory);
  for (const Layout& layout : layouts_of(machine, space)) {
    ++result.considered;
    Candidate least;
    if (auto candidate = measure.fit(layout, least)) {
      result.fitting.push_back(std::move(*candidate));
    } else if (!result.smallest || least.memory.total() < result.smallest->memory.total()) {
      result.smallest = std::move(least);
    }
  }
  std::ranges::stable_sort(result.fitting, {}, [](const Candidate& c) { return c.time.seconds(); });
  return result;
}

Job job_of(const SearchSpace& space, const Candidate& candidate) {
  config::RunConfig run = space.job.run;
  apply(candidate.layout, run);
  static_cast<config::RecomputeConfig&>(run.model) = candidate.recompute;
  return make_job(std::move(run), space.job.practice);
}

}  // namespace mpitron::plan
