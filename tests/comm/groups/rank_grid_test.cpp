#include "comm/groups/rank_grid.h"

#include <chrono>

#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "utils/error.h"

namespace mpitron::comm {
namespace rank_grid_test {

using Groups = std::vector<std::vector<Index>>;

ParallelSizes sizes_of(const nlohmann::json& row) {
  return {.tensor = row.at("tp"),
          .context = row.at("cp"),
          .pipeline = row.at("pp"),
          .expert = row.at("ep"),
          .expert_tensor = row.at("etp")};
}

/// The grids also of what the reference refuses: the table lists their groups.
Grid grid_of(const nlohmann::json& row, bool expert) {
  const Order order = parse_order(row.at("order").get_ref<const std::string&>());
  return expert ? Grid({row.at("etp"), 1, row.at("ep"), row.at("edp"), row.at("pp")}, order)
                : Grid({row.at("tp"), row.at("cp"), 1, row.at("dp"), row.at("pp")}, order);
}

void expect_groups(const Grid& grid, const nlohmann::json& expected) {
  for (const auto& [axes, groups] : expected.items()) {
    EXPECT_EQ(grid.groups(AxisSet::parse(axes)), groups.get<Groups>()) << axes;
  }
}

TEST(RankGrid, GroupsOfEveryRecordedLayout) {
  const nlohmann::json table = mpitron::test::golden_table("rank_groups");
  ASSERT_GE(table.size(), 60u);
  for (const auto& row : table) {
    SCOPED_TRACE(row.at("order").get<std::string>() + " world " + row.at("world").dump() + " tp " +
                 row.at("tp").dump() + " ep " + row.at("ep").dump());
    expect_groups(grid_of(row, false), row.at("dense"));
    expect_groups(grid_of(row, true), row.at("expert"));
  }
}

TEST(RankGrid, AcceptsWhatTheReferenceAcceptsAndDerivesItsSizes) {
  for (const auto& row : mpitron::test::golden_table("rank_groups")) {
    SCOPED_TRACE(row.at("order").get<std::string>() + " world " + row.at("world").dump());
    const auto make = [&row] {
      return RankGrid(row.at("world"), sizes_of(row), row.at("order").get<std::string>());
    };
    if (!row.at("legal").get<bool>()) {
      EXPECT_THROW(make(), Error);
      continue;
    }
    const RankGrid grid = make();
    EXPECT_EQ(grid.dense().size(Axis::data), row.at("dp").get<Index>());
    EXPECT_EQ(grid.expert().size(Axis::data), row.at("edp").get<Index>());
    expect_groups(grid.dense(), row.at("dense"));
    expect_groups(grid.expert(), row.at("expert"));
    EXPECT_EQ(grid.dense().groups({Axis::pipeline}), grid.expert().groups({Axis::pipeline}));
  }
}

TEST(RankGrid, HierarchicalGroupsOfEveryRecordedCase) {
  const nlohmann::json table = mpitron::test::golden_table("hierarchical_groups");
  ASSERT_GE(table.size(), 6u);
  for (const auto& row : table) {
    const auto& levels = row.at("levels");
    const auto sizes = row.at("sizes").get<std::vector<Index>>();
    ASSERT_EQ(levels.size(), sizes.size());
    for (std::size_t level = 0; level < levels.size(); ++level) {
      EXPECT_EQ(hierarchical_groups(row.at("ranks").get<std::vector<Index>>(), sizes, level),
                levels[level].get<Groups>())
          << row.at("sizes") << " level " << level;
    }
  }
}

TEST(RankGrid, WhatDoesNotDivideIsRefusedWithTheSizes) {
  try {
    RankGrid(12, {.tensor = 2, .pipeline = 4});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("12 ranks do not divide by"), std::string::npos);
  }
  EXPECT_THROW(RankGrid(8, {.expert = 3}), Error);
  EXPECT_THROW(RankGrid(8, {.tensor = 0}), Error);
}

TEST(RankGrid, TenThousandRanksTakeMilliseconds) {
  const auto start = std::chrono::steady_clock::now();
  const RankGrid grid(10'240, {.tensor = 8, .context = 2, .pipeline = 16, .expert = 4});
  std::size_t groups = 0;
  for (const AxisSet axes :
       {AxisSet{Axis::tensor}, AxisSet{Axis::context}, AxisSet{Axis::data}, AxisSet{Axis::pipeline},
        AxisSet{Axis::data, Axis::context}, AxisSet{Axis::tensor, Axis::pipeline}}) {
    groups += grid.dense().groups(axes).size() + grid.expert().groups(axes).size();
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  EXPECT_GT(groups, 20'000u);
  EXPECT_LT(passed.count(), 0.5);  // about 5 ms on an idle machine
}

}  // namespace rank_grid_test

}  // namespace mpitron::comm
