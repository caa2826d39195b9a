#include "comm/parallel_groups.h"

#include <algorithm>

#include "utils/error.h"

namespace mpitron::comm {
namespace {

/// Makes groups of one rank of a grid.
class Maker {
 public:
  Maker(World& world, const RankGrid& grid) : world_(world), grid_(grid) {}

  GroupHandle along(const std::string& name, AxisSet axes) const {
    return world_.make_group(name, grid_.dense().group_of(world_.rank(), axes));
  }

  /// Those of `pipeline` at these stages; null where this rank is none of them.
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

std::vector<Index> first_and_last(const Group& pipeline) {
  return pipeline.size() == 1 ? std::vector<Index>{0} : std::vector<Index>{0, pipeline.size() - 1};
}

}  // namespace

ParallelGroups groups_of_one(World& world) {
  const GroupHandle alone = world.make_group("alone", {world.rank()});
  return {.tensor = alone,
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
}

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
  const Index replicas = groups.data_context->size();
  if (options.optimizer_instances < 1 || replicas % options.optimizer_instances != 0) {
    throw_usage(
        "--num-distributed-optimizer-instances {}: must divide the {} replicas (data parallel x "
        "context parallel ranks)",
        options.optimizer_instances, replicas);
  }
  const auto optimizer =
      make.levels("optimizer_", *groups.data_context,
                  {replicas / options.optimizer_instances, options.optimizer_instances});
  groups.optimizer_instance = optimizer[0];
  groups.optimizer_replicas = optimizer[1];
  groups.sequence_parallel = options.sequence_parallel;
  groups.context_exchange = options.context_exchange;
  return groups;
}

}  // namespace mpitron::comm
