#include "plan/search/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mpitron::plan {
namespace {

constexpr Index kLongestOfOneRank = 16384;  // tokens of a sequence, before context is split

std::vector<Index> divisors(Index value, Index most) {
  std::vector<Index> result;
  for (Index divisor = 1; divisor <= std::min(value, most); ++divisor) {
    if (value % divisor == 0) {
      result.push_back(divisor);
    }
  }
  return result;
}

class SpaceWalk {
 public:
  SpaceWalk(const Machine& machine, const SearchSpace& space)
      : machine_(machine), space_(space), model_(space.job.model) {}

  std::vector<Job> walk() {
    job_ = space_.job;
    job_.layout.recompute = Recompute::none;
    const auto node = static_cast<Index>(machine_.node_gpus);
    for (const Index tensor :
         choices("tp", divisors(std::gcd(model_.heads, model_.kv_heads), node))) {
      job_.layout.tensor = tensor;
      job_.layout.sequence_parallel = tensor > 1;
      for (const Index context : choices("cp", contexts())) {
        job_.layout.context = context;
        for (const Index pipeline : choices("pp", pipelines())) {
          walk_stages(pipeline);
        }
      }
    }
    return std::move(found_);
  }

 private:
  std::vector<Index> choices(const char* key, std::vector<Index> all) const {
    const auto fixed = space_.fixed.find(key);
    return fixed == space_.fixed.end() ? all : std::vector<Index>{fixed->second};
  }

  std::vector<Index> contexts() const {
    std::vector<Index> result = {1};
    for (Index c = 2; job_.sequence / c >= kLongestOfOneRank / 2; c *= 2) {
      result.push_back(c);
    }
    return result;
  }

  /// Of the layers, also where embedding and loss count as one each.
  std::vector<Index> pipelines() const {
    std::vector<Index> result;
    for (Index stages = 1; stages <= model_.layers; ++stages) {
      if (model_.layers % stages == 0 || (stages > 2 && (model_.layers + 2) % stages == 0)) {
        result.push_back(stages);
      }
    }
    return result;
  }

  void walk_stages(Index pipeline) {
    Layout& layout = job_.layout;
    layout.pipeline = pipeline;
    if (layout.gpus % (layout.tensor * layout.context * pipeline) != 0) {
      return;
    }
    const bool even = model_.layers % pipeline == 0;
    const Index of_a_stage = (model_.layers + (even ? 0 : 2)) / pipeline;
    std::vector<Index> chunks = pipeline == 1 ? std::vector<Index>{1} : divisors(of_a_stage, 16);
    for (const Index count : choices("vp", chunks)) {
      layout.chunks = count;
      for (const Index expert : choices("ep", experts())) {
        layout.expert = expert;
        walk_batches();
      }
    }
  }

  std::vector<Index> experts() const {
    if (model_.experts == 0) {
      return {1};
    }
    const Layout& layout = job_.layout;
    std::vector<Index> result = divisors(model_.experts, layout.gpus / layout.pipeline);
    std::erase_if(result, [&](Index e) { return (layout.gpus / layout.pipeline) % e != 0; });
    return result;
  }

  void walk_batches() {
    const Index data = job_.layout.data();
    for (const Index size : choices("mbs", {1, 2, 4, 8, 16})) {
      const Index at_once = size * data;
      const Index microbatches = job_.global_batch / at_once;
      const bool interleaves = job_.layout.chunks > 1;
      if (job_.global_batch % at_once != 0 ||
          (interleaves && microbatches % job_.layout.pipeline != 0)) {
        continue;
      }
      job_.layout.micro_batch = size;
      job_.layout.sharding = Sharding::optimizer;
      found_.push_back(job_);
      if (space_.full_sharding && job_.layout.pipeline == 1 && data > 1) {
        job_.layout.sharding = Sharding::full;
        found_.push_back(job_);
      }
    }
  }

  const Machine& machine_;
  const SearchSpace& space_;
  const ModelShape& model_;
  Job job_;
  std::vector<Job> found_;
};

Candidate with_memory(Job job) {
  const std::vector<RankMemory> stages = stage_memory(job);
  const auto fullest = std::ranges::max_element(stages, {}, &RankMemory::total);
  return {.job = std::move(job),
          .memory = *fullest,
          .fullest_stage = std::distance(stages.begin(), fullest),
          .time = {}};
}

/// Layers of a stage that recompute, as a share of them: steps of whole layers.
double whole_layers(double share, const Job& job) {
  const double of_a_chunk =
      std::ceil(static_cast<double>(job.model.layers) / (job.layout.pipeline * job.layout.chunks));
  return std::min(1.0, std::ceil(share * of_a_chunk) / of_a_chunk);
}

}  // namespace

std::vector<Job> layouts_of(const Machine& machine, const SearchSpace& space) {
  return SpaceWalk(machine, space).walk();
}

std::optional<Candidate> fit(const Machine& machine, const Stack& stack, Job job, double memory) {
  Candidate without = with_memory(job);
  if (without.memory.total() > memory) {
    job.layout.recompute = Recompute::full;
    const double all = with_memory(job).memory.total();
    if (all > memory) {
      return std::nullopt;
    }
    const double share =
        (without.memory.total() - memory) / std::max(1.0, without.memory.total() - all);
    job.layout.recomputed = whole_layers(share, job);
    without = with_memory(job);
    if (without.memory.total() > memory) {  // another stage is the fullest then
      without.job.layout.recomputed = 1;
      without = with_memory(without.job);
    }
  }
  without.time = step_time({machine, stack, without.job});
  return without;
}

SearchResult search(const Machine& machine, const Stack& stack, const SearchSpace& space,
                    double memory) {
  SearchResult result;
  for (const Job& job : layouts_of(machine, space)) {
    ++result.considered;
    if (auto candidate = fit(machine, stack, job, memory)) {
      result.fitting.push_back(std::move(*candidate));
      continue;
    }
    Job least = job;
    least.layout.recompute = Recompute::full;
    Candidate small = with_memory(least);
    if (!result.smallest || small.memory.total() < result.smallest->memory.total()) {
      result.smallest = std::move(small);
    }
  }
  std::ranges::stable_sort(result.fitting, {}, [](const Candidate& c) { return c.time.seconds(); });
  return result;
}

}  // namespace mpitron::plan
