#include "plan/dry_run/job_record.h"

#include <algorithm>
#include <map>
#include <optional>

#include "train/model/rank_layout.h"
#include "train/model/trained_model.h"
#include "utils/check.h"

namespace mpitron::plan {
namespace {

/// Numbers of the groups of all ranks, each written down once.
class GroupTable {
 public:
  explicit GroupTable(std::vector<JobGroup>& groups) : groups_(groups) {}

  std::size_t number(const std::string& name, const std::vector<Index>& ranks) {
    std::vector<std::size_t>& known = by_first_[{name, ranks.front()}];
    for (const std::size_t group : known) {
      if (groups_[group].ranks == ranks) {
        return group;
      }
    }
    known.push_back(groups_.size());
    groups_.push_back({name, ranks});
    return known.back();
  }

 private:
  std::vector<JobGroup>& groups_;
  std::map<std::pair<std::string, Index>, std::vector<std::size_t>> by_first_;
};

/// A rank that makes its groups and does nothing else.
class GroupNames final : public comm::World {
 public:
  GroupNames(Index rank, Index size) : rank_(rank), size_(size) {}

  Index rank() const override { return rank_; }
  Index size() const override { return size_; }
  void progress() override {}
  std::shared_ptr<comm::ProgressEngine> engine() override { return nullptr; }
  std::shared_ptr<comm::Group> make_group(const std::string& name,
                                          const std::vector<Index>& ranks) override {
    made_.try_emplace(name, ranks);
    return std::make_shared<Named>(name, ranks, std::ranges::find(ranks, rank_) - ranks.begin());
  }
  const std::map<std::string, std::vector<Index>>& made() const { return made_; }

 private:
  class Named final : public comm::Group {
   public:
    using Group::Group;

   private:
    comm::Work start(const comm::Request&) override { return {}; }
  };

  Index rank_;
  Index size_;
  std::map<std::string, std::vector<Index>> made_;
};

class Recorder {
 public:
  Recorder(const config::RunConfig& run, const ReplayOptions& options)
      : run_(run),
        options_(options),
        grid_(train::make_rank_grid(run.parallel, run.parallel.world_size)),
        table_(job_.groups) {}

  JobRecord record() {
    const comm::Grid& dense = grid_.dense();
    const Index stages = dense.size(comm::Axis::pipeline);
    std::vector<Index> last(static_cast<std::size_t>(stages));
    job_.class_of.resize(static_cast<std::size_t>(grid_.world_size()));
    std::vector<std::ptrdiff_t> first(last.size(), -1);
    for (Index rank = 0; rank < grid_.world_size(); ++rank) {
      const auto stage = static_cast<std::size_t>(dense.coordinate(rank, comm::Axis::pipeline));
      first[stage] = first[stage] < 0 ? rank : first[stage];
      last[stage] = rank;
      job_.class_of[static_cast<std::size_t>(rank)] = stage;
    }
    for (std::size_t stage = 0; stage < last.size(); ++stage) {
      job_.classes.push_back(replay_rank(run_, first[stage], options_));
      check_equals(job_.classes.back(), last[stage]);
    }
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
  void check_equals(const RankReplay& first, Index last) const {
    if (last == first.rank) {
      return;
    }
    const RankReplay other = replay_rank(run_, last, options_);
    MPITRON_CHECK(other.record.events == first.record.events, first.rank, last);
    MPITRON_CHECK(other.record.groups.size() == first.record.groups.size(), first.rank, last);
  }

  std::map<std::string, std::vector<Index>> made_by(Index rank) const {
    GroupNames world(rank, grid_.world_size());
    train::make_groups(world, run_.parallel);
    return world.made();
  }

  /// The parallel group behind each group of a class: that of the same name, or the one with the
  /// same ranks; none for all ranks together.
  std::vector<std::optional<std::string>> axes_of(const RankReplay& one) const {
    const auto made = made_by(one.rank);
    std::vector<std::optional<std::string>> axes;
    for (const comm::RankRecord::Member& member : one.record.groups) {
      const auto named = made.find(member.name);
      const auto same =
          named != made.end() ? named : std::ranges::find_if(made, [&](const auto& group) {
            return group.second == member.ranks;
          });
      const bool all = std::ssize(member.ranks) == grid_.world_size();
      MPITRON_CHECK(all || same != made.end(), member.name, one.rank);
      axes.push_back(all ? std::nullopt : std::optional(same->first));
    }
    return axes;
  }

  std::vector<std::size_t> groups_of(Index rank) {
    const std::size_t own = job_.class_of[static_cast<std::size_t>(rank)];
    const auto& members = job_.record(rank).groups;
    const auto made = made_by(rank);
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
  std::vector<std::vector<std::optional<std::string>>> axes_;  // of each class' groups
  std::map<std::string, std::size_t> whole_;                   // groups of all ranks
};

}  // namespace

JobRecord record_job(const config::RunConfig& run, const ReplayOptions& options) {
  return Recorder(run, options).record();
}

}  // namespace mpitron::plan
