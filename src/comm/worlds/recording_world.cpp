#include "comm/worlds/recording_world.h"

#include <algorithm>
#include <cstring>

// A world that writes down what a rank would communicate: `plan --dry-run` plays these records of
// all ranks against each other. Tensors are not moved; tables of numbers, which decide what the
// program does next, are gathered as if every rank had the same.

namespace mpitron::comm {
namespace {

constexpr Index kTable = Index{1} << 20;  // bytes of numbers that are no tensor of a model

/// Tells numbers for the program from a tensor of the model.
bool is_table(const ConstTensorView& x) {
  return (x.dtype == DType::i64 || x.dtype == DType::f64) && x.bytes() <= kTable;
}

/// An operation that never ends by itself; a wait for it is noted and returns.
class RecordedOperation final : public Operation {
 public:
  RecordedOperation(RankRecord& record, const GroupEvent& event) : record_(record), event_(event) {}

  bool step() override { return false; }
  bool wait_on_device() override {
    event_.waits = true;
    event_.at = record_.seconds;
    record_.events.push_back(event_);
    return true;
  }
  std::vector<Index> absent() const override { return {}; }

 private:
  RankRecord& record_;
  GroupEvent event_;
};

/// State of a rank in a world without peers.
struct Recorder {
  RankRecord& record;
  std::shared_ptr<ProgressEngine> engine = std::make_shared<ProgressEngine>();
  std::uint32_t calls = 0;
};

/// A group whose operations become events of the record.
class RecordingGroup final : public Group {
 public:
  RecordingGroup(const std::string& name, const std::vector<Index>& ranks, Index place,
                 std::shared_ptr<Recorder> recorder)
      : Group(name, ranks, place), recorder_(std::move(recorder)) {
    std::vector<RankRecord::Member>& groups = recorder_->record.groups;
    const auto known = std::ranges::find_if(groups, [&](const RankRecord::Member& member) {
      return member.name == name && member.ranks == ranks;
    });
    number_ = static_cast<std::uint32_t>(known - groups.begin());
    if (known == groups.end() && size() > 1) {
      groups.push_back({name, ranks});
    }
  }

 private:
  /// Copies tables in a group of one, and nothing of the model.
  void run_alone(const Request& request) override {
    if (is_table(request.output)) {
      Group::run_alone(request);
    }
  }

  Work start(const Request& request) override {
    if (request.kind == CollectiveKind::all_gather && is_table(request.output)) {
      gather_equals(request);
    }
    GroupEvent event = event_of(*this, request);
    event.group = number_;
    event.call = recorder_->calls++;
    event.at = recorder_->record.seconds;
    recorder_->record.events.push_back(event);
    return {std::make_shared<RecordedOperation>(recorder_->record, event), recorder_->engine};
  }

  /// Fills every member's piece of a table with the own one.
  void gather_equals(const Request& request) const {
    const auto bytes = static_cast<std::size_t>(request.input.bytes());
    for (Index member = 0; member < size(); ++member) {
      auto* piece =
          static_cast<char*>(request.output.data) + static_cast<std::size_t>(member) * bytes;
      if (piece != request.input.data) {
        std::memcpy(piece, request.input.data, bytes);
      }
    }
  }

  std::shared_ptr<Recorder> recorder_;
  std::uint32_t number_;
};

class RecordingWorld final : public World {
 public:
  RecordingWorld(Index rank, Index size, RankRecord& record)
      : rank_(rank), size_(size), recorder_(std::make_shared<Recorder>(Recorder{record})) {}

  Index rank() const override { return rank_; }
  Index size() const override { return size_; }
  void progress() override {}
  std::shared_ptr<ProgressEngine> engine() override { return recorder_->engine; }
  std::shared_ptr<Group> make_group(const std::string& name,
                                    const std::vector<Index>& ranks) override {
    const auto place = std::ranges::find(ranks, rank_);
    MPITRON_CHECK(place != ranks.end(), name, rank_);
    return std::make_shared<RecordingGroup>(name, ranks, place - ranks.begin(), recorder_);
  }

 private:
  Index rank_;
  Index size_;
  std::shared_ptr<Recorder> recorder_;
};

}  // namespace

/// Messages name their partner by the distance in the group, so that ranks of one class have equal
/// events.
GroupEvent event_of(const Group& group, const Request& request) {
  const bool gives = request.input.data != nullptr;
  GroupEvent event{.kind = request.kind,
                   .dtype = gives ? request.input.dtype : request.output.dtype,
                   .reduction = request.reduction,
                   .peer = static_cast<std::int32_t>(request.peer),
                   .sent = gives ? request.input.numel() : 0,
                   .received = request.output.data != nullptr ? request.output.numel() : 0,
                   .label = request.label};
  if (event.is_message()) {
    event.peer =
        static_cast<std::int32_t>((request.peer - group.rank() + group.size()) % group.size());
  }
  return event;
}

std::unique_ptr<World> make_recording_world(Index rank, Index size, RankRecord& record) {
  MPITRON_CHECK(rank >= 0 && rank < size, rank, size);
  return std::make_unique<RecordingWorld>(rank, size, record);
}

}  // namespace mpitron::comm
