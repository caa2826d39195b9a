#include "comm/messages/message_transfers.h"

#include <set>

#include <gtest/gtest.h>

namespace mpitron::comm {
namespace message_transfers_test {

class NamedGroup final : public Group {
 public:
  using Group::Group;

 private:
  Work start(const Request&) override { return {}; }
};

/// Ends a transfer when the test says so.
class HeldMessages final : public Messages {
 public:
  std::unique_ptr<Transfer> send(Index to, int, const void*, Index) override { return hold(to); }
  std::unique_ptr<Transfer> receive(Index from, int, void*, Index) override { return hold(from); }
  int largest_tag() const override { return 1 << 20; }

  std::set<Index> arrived;  // world ranks

 private:
  struct Held final : Transfer {
    Held(const HeldMessages& all, Index peer) : all(all), peer(peer) {}
    bool done() override { return all.arrived.contains(peer); }
    const HeldMessages& all;
    Index peer;
  };
  std::unique_ptr<Transfer> hold(Index peer) const { return std::make_unique<Held>(*this, peer); }
};

TEST(MessageTransfers, AreDoneWhenAllAreAndTellWhoIsAbsent) {
  HeldMessages messages;
  const NamedGroup group("g", {3, 5, 9}, 0);
  const MessageMembers members(group, messages, 1);
  MessageTransfers transfers(members, members.tag(0, 0));
  char byte = 0;
  transfers.send(1, &byte, 1);
  transfers.receive(2, &byte, 1);
  transfers.send(2, nullptr, 0);  // nothing to wait for
  messages.arrived = {5};
  EXPECT_FALSE(transfers.done());
  std::vector<Index> absent;
  transfers.add_absent(absent);
  EXPECT_EQ(absent, std::vector<Index>{9});
  messages.arrived = {5, 9};
  EXPECT_TRUE(transfers.done());
}

TEST(MessageMembers, TagsOfCollectivesUnderWayAreAllDifferent) {
  HeldMessages messages;
  const NamedGroup group("g", {0, 1}, 0);
  const MessageMembers members(group, messages, 7), next(group, messages, 8);
  std::set<int> tags{members.message_tag()};
  for (int sequence = 0; sequence < MessageMembers::kUnderWay; ++sequence) {
    for (int part = 0; part < MessageMembers::kTagsEach - 1; ++part) {
      EXPECT_TRUE(tags.insert(members.tag(static_cast<std::uint64_t>(sequence), part)).second);
    }
  }
  EXPECT_LT(*tags.rbegin(), next.tag(0, 0));
}

}  // namespace message_transfers_test
}  // namespace mpitron::comm
