#pragma once
#include <algorithm>
#include <map>

#include "comm/groups/world.h"
#include "plan/dry_run/job_record.h"
#include "train/model/trained_model.h"

namespace mpitron::plan {

/// Numbers the groups of all ranks; each is written down once, found by its name and first rank.
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

/// Returns the groups that a rank makes, without its model: cheap enough for every rank.
inline std::map<std::string, std::vector<Index>> groups_made_by(
    Index rank, Index ranks, const config::ParallelConfig& parallel) {
  GroupNames world(rank, ranks);
  train::make_groups(world, parallel);
  return world.made();
}

}  // namespace mpitron::plan
