#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "convert/names/hugging_face_config.h"
#include "convert/names/name_table.h"
#include "convert/tiny_models.h"

namespace mpitron::convert {
namespace row_orders_test {

ModelDescription describe(const std::string& family) {
  return read_hugging_face_config(test::reference_model(family).config, family, 8);
}

const NameRule& rule_for(const NameTable& table, const std::string& end) {
  return *std::ranges::find_if(table.rules,
                               [&](const NameRule& rule) { return rule.ours.ends_with(end); });
}

/// Every row of theirs goes to exactly one row of ours, so that a table is its own inverse.
TEST(RowOrders, MovesEveryRowOnce) {
  for (const std::string& family : test::families()) {
    for (const NameRule& rule : make_name_table(family, describe(family)).rules) {
      std::multiset<Index> ours, theirs;
      for (const RowMove& move : rule.moves) {
        for (Index i = 0; i < move.count; ++i) {
          ours.insert(move.ours + i);
          theirs.insert(move.theirs + i);
        }
      }
      const auto rows = static_cast<std::size_t>(rule.rows_of_theirs());
      EXPECT_EQ(std::set<Index>(ours.begin(), ours.end()).size(), rows) << rule.ours;
      EXPECT_EQ(std::set<Index>(theirs.begin(), theirs.end()).size(), rows) << rule.ours;
      EXPECT_EQ(ours.size(), rows) << rule.ours;
      EXPECT_TRUE(rows == 0 || *ours.rbegin() < rule.shape[0]) << rule.ours;
    }
  }
}

/// n = 4 heads in g = 2 groups, d = 2: ours are q0 q1 k0 v0 | q2 q3 k1 v1.
TEST(RowOrders, InterleavesQueryGroups) {
  ModelDescription description = describe("llama");
  description.model.num_attention_heads = 4;
  description.model.num_query_groups = 2;
  description.model.kv_channels = 2;
  const NameTable table = make_name_table("llama", description);
  const NameRule& rule = rule_for(table, "layers.0.self_attention.linear_qkv.weight");
  std::vector<Index> theirs_of_ours(16, -1);
  for (const RowMove& move : rule.moves) {
    for (Index i = 0; i < move.count; ++i) {
      theirs_of_ours[static_cast<std::size_t>(move.ours + i)] = move.theirs + i;
    }
  }
  EXPECT_EQ(theirs_of_ours, (std::vector<Index>{0, 1, 2, 3, 8, 9, 12, 13,  //
                                                4, 5, 6, 7, 10, 11, 14, 15}));
}

/// Llama 4 rotates neighbours, too: heads move whole.
TEST(RowOrders, HeadsStayAsTheyAreWhereBothRotateNeighbours) {
  const NameTable table = make_name_table("llama4_text", describe("llama4_text"));
  const NameRule& rule = rule_for(table, "layers.0.self_attention.linear_qkv.weight");
  EXPECT_EQ(rule.moves.size(), 8U);  // 4 queries, 2 keys, 2 values
  for (const RowMove& move : rule.moves) {
    EXPECT_EQ(move.count, 8);
  }
}

/// A model that rotates neighbours is written with its pairs taken apart.
TEST(RowOrders, ReordersInterleavedRotation) {
  ModelDescription description = describe("llama");
  description.model.num_attention_heads = description.model.num_query_groups = 1;
  description.model.kv_channels = 4;
  description.model.rotary_interleaved = true;
  const NameTable table = make_name_table("llama", description);
  const NameRule& rule = rule_for(table, "layers.0.self_attention.linear_qkv.weight");
  const std::vector<RowMove> expected = {{0, 0, 1}, {1, 2, 1}, {2, 1, 1}, {3, 3, 1}, {4, 4, 1},
                                         {5, 6, 1}, {6, 5, 1}, {7, 7, 1}, {8, 8, 4}};
  EXPECT_EQ(rule.moves, expected);
}

/// g = 2 groups, d = 2: ours are k0 v0 | k1 v1.
TEST(RowOrders, InterleavesKeysAndValues) {
  ModelDescription description = describe("t5");
  description.model.num_attention_heads = description.model.num_query_groups = 2;
  description.model.kv_channels = 4;
  const NameTable table = make_name_table("t5", description);
  const NameRule& rule = rule_for(table, "layers.0.cross_attention.linear_kv.weight");
  EXPECT_EQ(rule.moves, (std::vector<RowMove>{{0, 0, 4}, {4, 8, 4}, {8, 4, 4}, {12, 12, 4}}));
  EXPECT_EQ(rule.theirs[1].name, "decoder.block.0.layer.1.EncDecAttention.v.weight");
}

}  // namespace row_orders_test
}  // namespace mpitron::convert
