#include <algorithm>

#include "comm/groups/world.h"

// Worlds without peers: one rank, or one of many whose operations move nothing. Plans and checks of
// a layout build the whole program in them.

namespace mpitron::comm {
namespace {

/// Operations end at once and move nothing but what stays on this rank.
class LonelyGroup final : public Group {
 public:
  using Group::Group;

 private:
  Work start(const Request&) override { return {}; }
};

class LonelyWorld final : public World {
 public:
  LonelyWorld(Index rank, Index size) : rank_(rank), size_(size) {}

  Index rank() const override { return rank_; }
  Index size() const override { return size_; }
  void progress() override {}
  std::shared_ptr<ProgressEngine> engine() override { return engine_; }
  std::shared_ptr<Group> make_group(const std::string& name,
                                    const std::vector<Index>& ranks) override {
    const auto place = std::find(ranks.begin(), ranks.end(), rank_);
    MPITRON_CHECK(place != ranks.end(), name, rank_);
    return std::make_shared<LonelyGroup>(name, ranks, place - ranks.begin());
  }

 private:
  Index rank_;
  Index size_;
  std::shared_ptr<ProgressEngine> engine_ = std::make_shared<ProgressEngine>();
};

}  // namespace

std::unique_ptr<World> make_single_world() {
  return make_fake_world(0, 1);
}

std::unique_ptr<World> make_fake_world(Index rank, Index size) {
  MPITRON_CHECK(rank >= 0 && rank < size, rank, size);
  return std::make_unique<LonelyWorld>(rank, size);
}

}  // namespace mpitron::comm
