#include "plan/search/search.h"

#include <algorithm>

// Gives each layout the least recomputation that fits in memory, and sorts what fits by predicted
// time.

namespace mpitron::plan {
namespace {

using config::RecomputeGranularity;
using config::RecomputeModule;
using config::ShardingStrategy;

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
