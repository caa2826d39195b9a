#include "plan/dry_run/job_record.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "plan/dry_run/job_groups.h"
#include "train/model/rank_layout.h"
#include "utils/check.h"

// Records a whole job by replaying a few of its ranks: ranks with the same part of the model and of
// its gradients do the same, but for who is in their groups, which every rank tells by itself.

namespace mpitron::plan {
namespace {

class Recorder {
 public:
  Recorder(const config::RunConfig& run, const ReplayOptions& options)
      : run_(run),
        options_(options),
        grid_(train::make_rank_grid(run.parallel, run.parallel.world_size)),
        table_(job_.groups) {}

  JobRecord record() {
    find_classes();
    for (const RankReplay& one : job_.classes) {
      axes_.push_back(axes_of(one));
      for (const comm::RankRecord::Member& member : one.record.groups) {
        if (std::ssize(member.ranks) == grid_.world_size() && !whole_.contains(member.name)) {
          whole_[member.name] = table_.number(member.name, member.ranks);
        }
      }
    }
    for (Index rank = 0; rank < grid_.world_size(); ++rank) {
      job_.groups_of.push_back(groups_of(rank));
    }
    return std::move(job_);
  }

 private:
  /// The part of the model and of its gradients that a rank has.
  struct Part {
    Index stage, data, context;
    auto operator<=>(const Part&) const = default;
  };

  Part part_of(Index rank) const {
    const comm::Grid& dense = grid_.dense();
    using enum comm::Axis;
    return {dense.coordinate(rank, pipeline), dense.coordinate(rank, data),
            dense.coordinate(rank, context)};
  }

  /// Puts each rank into a class; a rank whose part an earlier rank has is not replayed, except the
  /// last one of each stage, as a check.
  void find_classes() {
    std::map<Part, std::size_t> of_part;
    for (Index rank = 0; rank < grid_.world_size(); ++rank) {
      const Part part = part_of(rank);
      const auto known = of_part.find(part);
      const std::size_t own = known != of_part.end() ? known->second : class_of(rank, part);
      of_part[part] = own;
      job_.class_of.push_back(own);
    }
    check_equals(job_.classes[job_.class_of.back()], grid_.world_size() - 1);
  }

  /// Returns whether ranks of a stage may have unequal sums beside the replicas': of norms among
  /// tensor ranks, of the tied table at the ends of the pipeline.
  bool parts_differ(Index stage) const {
    const config::ParallelConfig& p = run_.parallel;
    const bool at_end = stage == 0 || stage == p.pipeline_model_parallel_size - 1;
    return p.sharding_strategy != config::ShardingStrategy::no_shard &&
           (p.tensor_model_parallel_size > 1 || (at_end && p.pipeline_model_parallel_size > 1));
  }

  /// The class of a rank with a part that no rank before it has; replayed where it is new.
  std::size_t class_of(Index rank, const Part& part) {
    const std::vector<Index> sums =
        parts_differ(part.stage) ? sums_of(rank, part) : std::vector<Index>{};
    const auto [place, is_new] = by_sums_[part.stage].try_emplace(sums, job_.classes.size());
    if (is_new) {
      job_.classes.push_back(replay_rank(run_, rank, options_));
    }
    return place->second;
  }

  /// Those of a stage with equal parameters are equal.
  const std::vector<Index>& sums_of(Index rank, const Part& part) {
    const auto stage = parameters_.find(part.stage);
    if (stage != parameters_.end()) {
      const auto known = sums_.find({stage->second, part.data, part.context});
      if (known != sums_.end()) {
        return known->second;
      }
    }
    const RankReplay made = replay_rank(run_, rank, {.steps = 0});
    parameters_[part.stage] = made.parameters;
    return sums_[{made.parameters, part.data, part.context}] = made.completed;
  }

  /// Replays another rank of a class in full: its events must be the same. Their times may differ
  /// by what rank 0 does for the log.
  void check_equals(const RankReplay& first, Index other) const {
    if (other == first.rank) {
      return;
    }
    const RankReplay again = replay_rank(run_, other, options_);
    const auto same = [](comm::GroupEvent one, comm::GroupEvent another) {
      one.at = another.at = 0;
      return one == another;
    };
    MPITRON_CHECK(std::ranges::equal(again.record.events, first.record.events, same), first.rank,
                  other);
    MPITRON_CHECK(again.record.groups.size() == first.record.groups.size(), first.rank, other);
  }

  /// Returns the parallel group behind each group of a class: that of the same name, or the one
  /// with the same ranks; none for all ranks together.
  std::vector<std::optional<std::string>> axes_of(const RankReplay& one) const {
    const auto made = groups_made_by(one.rank, grid_.world_size(), run_.parallel);
    std::vector<std::optional<std::string>> axes;
    for (const comm::RankRecord::Member& member : one.record.groups) {
      const auto named = made.find(member.name);
      const auto same = named != made.end()
                            ? named
                            : std::ranges::find(made, member.ranks,
                                                [](const auto& group) { return group.second; });
      const bool all = std::ssize(member.ranks) == grid_.world_size();
      MPITRON_CHECK(all || same != made.end(), member.name, one.rank);
      axes.push_back(all ? std::nullopt : std::optional(same->first));
    }
    return axes;
  }

  /// Translates the groups of a rank's class into the rank's own.
  std::vector<std::size_t> groups_of(Index rank) {
    const std::size_t own = job_.class_of[static_cast<std::size_t>(rank)];
    const auto& members = job_.record(rank).groups;
    const auto made = groups_made_by(rank, grid_.world_size(), run_.parallel);
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::optional<std::string>& axis = axes_[own][i];
      result.push_back(axis ? table_.number(members[i].name, made.at(*axis))
                            : whole_.at(members[i].name));
    }
    return result;
  }

  const config::RunConfig& run_;
  const ReplayOptions& options_;
  comm::RankGrid grid_;
  JobRecord job_;
  GroupTable table_;
  std::map<Index, std::map<std::vector<Index>, std::size_t>> by_sums_;  // classes of each stage
  std::map<Index, std::uint64_t> parameters_;                           // of each stage
  // of ranks by their parameters, data and context coordinates
  std::map<std::tuple<std::uint64_t, Index, Index>, std::vector<Index>> sums_;
  std::vector<std::vector<std::optional<std::string>>> axes_;  // of each class' groups
  std::map<std::string, std::size_t> whole_;                   // groups of all ranks
};

}  // namespace

JobRecord record_job(const config::RunConfig& run, const ReplayOptions& options) {
  return Recorder(run, options).record();
}

}  // namespace mpitron::plan
