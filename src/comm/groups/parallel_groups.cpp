#include "comm/groups/parallel_groups.h"

#include <algorithm>
#include <tuple>

#include "utils/error.h"

// The groups of one rank, from a grid of ranks. Every rank makes the same groups in the same order,
// also those in which it is alone: making one may need all its members. Dense layers and experts
// have grids of their own over the same ranks and share the pipeline's stages.

namespace mpitron::comm {
namespace {

/// Makes groups of one rank of a grid.
class Maker {
 public:
  Maker(World& world, const RankGrid& grid) : world_(world), grid_(grid) {}

  /// Makes the group of this rank along these axes of the dense layers' grid.
  GroupHandle along(const std::string& name, AxisSet axes) const {
    return world_.make_group(name, grid_.dense().group_of(world_.rank(), axes));
  }
  /// Makes the same along axes of the experts' grid.
  GroupHandle along_experts(const std::string& name, AxisSet axes) const {
    return world_.make_group(name, grid_.expert().group_of(world_.rank(), axes));
  }

  /// Makes the group of the ranks of `pipeline` at these stages; null where this rank is none of
  /// them.
  GroupHandle at_stages(const std::string& name, const Group& pipeline,
                        const std::vector<Index>& stages) const {
    std::vector<Index> ranks;
    for (const Index stage : stages) {
      MPITRON_CHECK(stage >= 0 && stage < pipeline.size(), name, stage, pipeline.size());
      ranks.push_back(pipeline.ranks()[static_cast<std::size_t>(stage)]);
    }
    return contains(ranks) ? world_.make_group(name, ranks) : nullptr;
  }

  /// One group for each dimension of `whole` as a box of `sizes`.
  std::vector<GroupHandle> levels(const std::string& name, const Group& whole,
                                  const std::vector<Index>& sizes) const {
    std::vector<GroupHandle> made;
    for (std::size_t level = 0; level < sizes.size(); ++level) {
      const auto groups = hierarchical_groups(whole.ranks(), sizes, level);
      const auto mine = std::find_if(groups.begin(), groups.end(),
                                     [this](const auto& ranks) { return contains(ranks); });
      made.push_back(world_.make_group(name + std::to_string(level), *mine));
    }
    return made;
  }

 private:
  bool contains(const std::vector<Index>& ranks) const {
    return std::find(ranks.begin(), ranks.end(), world_.rank()) != ranks.end();
  }

  World& world_;
  const RankGrid& grid_;
};

/// Divides `whole`, the replicas of some parameters, into those who share the state of one instance
/// of the optimizer, and those who hold the same in all instances.
std::pair<GroupHandle, GroupHandle> instances_of(const Maker& make, const std::string& name,
                                                 const Group& whole, Index instances) {
  if (instances < 1 || whole.size() % instances != 0) {
    throw_usage("--num-distributed-optimizer-instances {}: must divide the {} replicas of {}",
                instances, whole.size(), name);
  }
  const auto levels =
      make.levels(name + "_instance_", whole, {whole.size() / instances, instances});
  return {levels[0], levels[1]};
}

std::vector<Index> first_and_last(const Group& pipeline) {
  return pipeline.size() == 1 ? std::vector<Index>{0} : std::vector<Index>{0, pipeline.size() - 1};
}

}  // namespace

/// Makes groups for what runs without a layout, such as tests and tools on one rank.
ParallelGroups groups_of_one(World& world) {
  const GroupHandle alone = world.make_group("alone", {world.rank()});
  ParallelGroups groups{.tensor = alone,
                        .context = alone,
                        .data = alone,
                        .data_context = alone,
                        .pipeline = alone,
                        .model = alone,
                        .tensor_context = alone,
                        .tensor_data = alone,
                        .tensor_data_context = alone,
                        .embedding = alone,
                        .position_embedding = alone,
                        .context_levels = {},
                        .optimizer_instance = alone,
                        .optimizer_replicas = alone};
  static_cast<ExpertGroups&>(groups) = {.expert = alone,
                                        .expert_tensor = alone,
                                        .expert_layer = alone,
                                        .expert_data = alone,
                                        .expert_optimizer_instance = alone,
                                        .expert_optimizer_replicas = alone};
  return groups;
}

/// Words of --cp-comm-type.
ContextExchange context_exchange_of(const std::string& word) {
  if (word == "p2p") {
    return ContextExchange::ring;
  }
  if (word == "all_gather" || word == "allgather") {
    return ContextExchange::all_gather;
  }
  if (word == "a2a") {
    return ContextExchange::heads;
  }
  if (word == "a2a+p2p") {
    return ContextExchange::heads_in_ring;
  }
  throw_usage("--cp-comm-type: {} is none of p2p, all_gather, a2a, a2a+p2p", word);
}

/// All ranks call it with the same grid; groups are made in the same order everywhere.
ParallelGroups make_parallel_groups(World& world, const RankGrid& grid,
                                    const GroupOptions& options) {
  MPITRON_CHECK(world.size() == grid.world_size(), world.size(), grid.world_size());
  const Maker make(world, grid);
  ParallelGroups groups = {
      .tensor = make.along("tensor", {Axis::tensor}),
      .context = make.along("context", {Axis::context}),
      .data = make.along("data", {Axis::data}),
      .data_context = make.along("data_context", {Axis::data, Axis::context}),
      .pipeline = make.along("pipeline", {Axis::pipeline}),
      .model = make.along("model", {Axis::tensor, Axis::pipeline}),
      .tensor_context = make.along("tensor_context", {Axis::tensor, Axis::context}),
      .tensor_data = make.along("tensor_data", {Axis::tensor, Axis::data}),
      .tensor_data_context =
          make.along("tensor_data_context", {Axis::tensor, Axis::data, Axis::context})};
  const Group& pipeline = *groups.pipeline;
  groups.embedding = make.at_stages(
      "embedding", pipeline,
      options.embedding_stages.empty() ? first_and_last(pipeline) : options.embedding_stages);
  groups.position_embedding =
      make.at_stages("position_embedding", pipeline,
                     options.position_embedding_stages.empty() ? std::vector<Index>{0}
                                                               : options.position_embedding_stages);
  groups.context_levels =
      make.levels("context_level_", *groups.context, options.context_level_sizes);
  groups.expert = make.along_experts("expert", {Axis::expert});
  groups.expert_tensor = make.along_experts("expert_tensor", {Axis::tensor});
  groups.expert_layer = make.along_experts("expert_layer", {Axis::tensor, Axis::expert});
  groups.expert_data = make.along_experts("expert_data", {Axis::data});
  std::tie(groups.optimizer_instance, groups.optimizer_replicas) =
      instances_of(make, "parameters", *groups.data_context, options.optimizer_instances);
  std::tie(groups.expert_optimizer_instance, groups.expert_optimizer_replicas) =
      instances_of(make, "experts", *groups.expert_data, options.optimizer_instances);
  groups.sequence_parallel = options.sequence_parallel;
  groups.context_exchange = options.context_exchange;
  return groups;
}

}  // namespace mpitron::comm
