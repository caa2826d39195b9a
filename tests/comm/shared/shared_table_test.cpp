#include "comm/shared/shared_table.h"

#include <cstring>
#include <memory>
#include <set>

#include <gtest/gtest.h>

namespace mpitron::comm {
namespace shared_table_test {

struct alignas(64) Line {
  std::byte bytes[64];
};

TEST(SharedTable, EveryCounterAndPostingHasAPlaceOfItsOwn) {
  constexpr Index kMembers = 3;
  const std::size_t lines = (SharedTable::bytes(kMembers) + sizeof(Line) - 1) / sizeof(Line);
  const auto memory = std::make_unique<Line[]>(lines);
  const SharedTable table(memory.get(), kMembers);
  std::set<const void*> places;
  std::size_t counted = 0;
  const auto add = [&](const void* place) {
    EXPECT_GE(place, static_cast<const void*>(memory.get()));
    EXPECT_LT(place, static_cast<const void*>(memory.get() + lines));
    places.insert(place);
    ++counted;
  };
  for (Index a = 0; a < kMembers; ++a) {
    add(&table.posted(a));
    add(&table.finished(a));
    for (Index at = 0; at < SharedTable::kDepth; ++at) {
      add(&table.posting(static_cast<std::uint64_t>(at), a));
    }
    for (Index b = 0; b < kMembers; ++b) {
      add(&table.sent(a, b));
      add(&table.received(a, b));
    }
  }
  EXPECT_EQ(places.size(), counted);
}

TEST(SharedTable, PostingsComeRoundAfterTheDepth) {
  const auto memory = std::make_unique<Line[]>(SharedTable::bytes(2) / sizeof(Line) + 1);
  const SharedTable table(memory.get(), 2);
  EXPECT_EQ(&table.posting(1, 1), &table.posting(1 + SharedTable::kDepth, 1));
  EXPECT_NE(&table.posting(1, 1), &table.posting(2, 1));
  EXPECT_EQ(&table.message(3, 0, 1), &table.message(3 + SharedTable::kDepth, 0, 1));
  EXPECT_NE(&table.message(3, 0, 1), &table.message(3, 1, 0));
}

}  // namespace shared_table_test
}  // namespace mpitron::comm
