#include "checkpoint/plan/save_plan.h"

#include <gtest/gtest.h>

#include "checkpoint/layouts.h"
#include "utils/timer.h"

namespace mpitron::checkpoint {
namespace save_plan_test {

std::vector<HeldState> held_by_all(const std::vector<TestTensor>& tensors,
                                   const TestLayout& layout) {
  std::vector<HeldState> states;
  for (Index rank = 0; rank < layout.ranks(); ++rank) {
    states.push_back(hold_state(tensors, layout, rank));
  }
  return states;
}

Holdings holdings_of(const std::vector<HeldState>& states) {
  std::vector<Description> descriptions;
  for (const HeldState& state : states) {
    descriptions.emplace_back(state.tensors);
  }
  return make_holdings(descriptions);
}

/// Does what the plan says, in memory; counts how often each byte is written.
struct Disk {
  std::vector<std::vector<std::byte>> data_sets;
  std::vector<std::vector<int>> writes;

  explicit Disk(const Holdings& holdings) {
    for (const DataSet& data_set : holdings.data_sets) {
      data_sets.emplace_back(static_cast<std::size_t>(data_set.bytes()));
      writes.emplace_back(static_cast<std::size_t>(data_set.bytes()));
    }
  }

  void write(const Holdings& holdings, const std::vector<HeldState>& states, const Piece& piece) {
    const auto set = static_cast<std::size_t>(piece.data_set);
    const auto element = static_cast<Index>(size_of(holdings.data_sets[set].dtype));
    const auto put = [&](Index to, const Source& source, Index from, Index count) {
      const auto& tensor = states[static_cast<std::size_t>(source.rank)]
                               .tensors[static_cast<std::size_t>(source.item)];
      ASSERT_LE((source.offset + from + count) * element, tensor.value.bytes());
      std::memcpy(
          data_sets[set].data() + to * element,
          static_cast<const std::byte*>(tensor.value.data) + (source.offset + from) * element,
          static_cast<std::size_t>(count * element));
      for (Index i = to * element; i < (to + count) * element; ++i) {
        ++writes[set][static_cast<std::size_t>(i)];
      }
    };
    if (!piece.gathered()) {
      ASSERT_EQ(piece.sources.size(), 1u);
      ASSERT_EQ(piece.sources[0].rank, piece.rank);
      return put(piece.begin, piece.sources[0], 0, piece.end - piece.begin);
    }
    for (const Source& source : piece.sources) {
      const ShardMap& map = holdings.maps[static_cast<std::size_t>(source.map)];
      ASSERT_EQ(piece.end - piece.begin, piece.rows * map.row_width);
      for (Index row = 0; row < piece.rows; ++row) {
        Index from = row * map.width();
        for (const ShardMap::Column& column : map.columns) {
          put(piece.begin + row * map.row_width + column.begin, source, from, column.size());
          from += column.size();
        }
      }
    }
  }
};

/// The data sets are what the tensors say, and every byte was written once.
void check_plan(const std::vector<TestTensor>& tensors, const TestLayout& layout,
                const PlanOptions& options) {
  const std::vector<HeldState> states = held_by_all(tensors, layout);
  const Holdings holdings = holdings_of(states);
  const SavePlan plan = plan_save(holdings, options);
  Disk disk(holdings);
  std::vector<Index> bytes(states.size());
  for (const Piece& piece : plan.pieces) {
    ASSERT_LT(piece.begin, piece.end);
    disk.write(holdings, states, piece);
    bytes[static_cast<std::size_t>(piece.rank)] +=
        (piece.end - piece.begin) *
        static_cast<Index>(
            size_of(holdings.data_sets[static_cast<std::size_t>(piece.data_set)].dtype));
  }
  EXPECT_EQ(bytes, plan.rank_bytes);
  for (const TestTensor& tensor : tensors) {
    const auto known = std::find_if(holdings.data_sets.begin(), holdings.data_sets.end(),
                                    [&](const DataSet& set) { return set.name == tensor.name; });
    ASSERT_NE(known, holdings.data_sets.end()) << tensor.name;
    const auto i = static_cast<std::size_t>(known - holdings.data_sets.begin());
    EXPECT_EQ(disk.data_sets[i], values_of(tensor)) << tensor.name;
    EXPECT_EQ(disk.writes[i], std::vector<int>(disk.writes[i].size(), 1)) << tensor.name;
  }
}

TEST(SavePlan, WritesEveryByteOnceInRandomLayouts) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    const std::vector<TestTensor> tensors = random_tensors(random, 1 + random() % 3, 1);
    const Index ranks = std::array<Index, 6>{1, 2, 4, 6, 8, 16}[random() % 6];
    const TestLayout layout = random_layout(random, ranks);
    const PlanOptions options{.alignment = 64,
                              .least_write = std::array<Index, 3>{128, 1024, 1 << 20}[round % 3],
                              .largest_rows = 4096};
    SCOPED_TRACE(name_of(layout) + " round " + std::to_string(round));
    check_plan(tensors, layout, options);
  }
}

/// Without memory, for large states.
Holdings holdings_of_shapes(const std::vector<TestTensor>& tensors, const TestLayout& layout) {
  std::vector<Description> descriptions;
  for (Index rank = 0; rank < layout.ranks(); ++rank) {
    HeldState state;
    const Index t = rank % layout.tensor, d = rank / layout.tensor % layout.data;
    const Index stage = rank / layout.tensor / layout.data;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TestTensor& tensor = tensors[i];
      if (static_cast<Index>(i) * layout.pipeline / static_cast<Index>(tensors.size()) != stage) {
        continue;
      }
      const tensor::Shard shard = tensor::even_shard(tensor.dim, tensor.shape[tensor.dim],
                                                     {t, layout.tensor}, tensor.blocks);
      const Index numel = shard.local(tensor.shape).numel();
      const Index part = (numel + layout.data - 1) / layout.data;
      const Index begin = layout.distributed_optimizer ? std::min(numel, d * part) : 0;
      const Index end = layout.distributed_optimizer ? std::min(numel, begin + part) : numel;
      state.tensors.push_back(
          {tensor.name, tensor.shape, shard, begin, {nullptr, tensor.dtype, {end - begin}}});
    }
    descriptions.emplace_back(state.tensors);
  }
  return make_holdings(descriptions);
}

std::vector<TestTensor> large_model(Index layers, Index h) {
  std::vector<TestTensor> tensors;
  for (Index layer = 0; layer < layers; ++layer) {
    for (const char* kind : {"model/", "master/", "exp_avg/", "exp_avg_sq/"}) {
      const std::string name = kind + std::to_string(layer) + ".";
      tensors.push_back({name + "qkv", {3 * h, h}, DType::f32, 0});
      tensors.push_back({name + "proj", {h, h}, DType::f32, 1});
      tensors.push_back({name + "fc1", {8 * h, h}, DType::f32, 0, 2});
      tensors.push_back({name + "fc2", {h, 4 * h}, DType::f32, 1});
    }
  }
  return tensors;
}

TEST(SavePlan, LargeWritesOnEvenLoads) {
  for (const bool sharded : {false, true}) {
    const Holdings holdings = holdings_of_shapes(large_model(2, 2048), {4, 1, 4, sharded});
    const SavePlan plan = plan_save(holdings);
    Index small = 0;
    for (const Piece& piece : plan.pieces) {
      const Index bytes = 4 * (piece.end - piece.begin);
      small += bytes < (1 << 20);
      EXPECT_TRUE(sharded || piece.begin * 4 % 4096 == 0);
      EXPECT_LE(piece.gathered() ? bytes : 0, 8 << 20);
    }
    // Of the strided ones, the rows in which a part ends: three cuts, columns of four ranks, two
    // sides of the cut.
    EXPECT_LE(small, sharded ? 16 * 3 * 4 * 2 : 0);
    EXPECT_LE(plan.imbalance(), 1.02) << sharded;
  }
}

TEST(SavePlan, IsFastForThousandsOfRanks) {
  for (const bool sharded : {false, true}) {
    const Holdings holdings = holdings_of_shapes(large_model(96, 12288), {8, 16, 48, sharded});
    const Timer timer;
    const SavePlan plan = plan_save(holdings);
    EXPECT_LE(plan.imbalance(), 1.05) << sharded;
    EXPECT_LE(timer.seconds(), 20) << sharded;
    RecordProperty(sharded ? "sharded" : "replicated", std::to_string(timer.seconds()));
  }
}

std::string failure(const std::vector<tensor::ShardedTensor>& first,
                    const std::vector<tensor::ShardedTensor>& second) {
  const std::vector<Description> ranks = {Description(first), Description(second)};
  try {
    plan_save(make_holdings(ranks));
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(SavePlan, NamesTensorsThatDoNotFitTogether) {
  std::vector<float> memory(64);
  const auto part = [&](Shape shape, tensor::Shard shard, Index begin, Index end) {
    return std::vector<tensor::ShardedTensor>{
        {"w", shape, shard, begin, {memory.data(), DType::f32, {end - begin}}}};
  };
  const tensor::Shard rows{0, {{0, 4}}}, more_rows{0, {{3, 8}}}, columns{1, {{0, 4}}};
  const Shape shape = {8, 8};
  EXPECT_EQ(failure(part(shape, {}, 0, 40), part(shape, {}, 30, 64)), "");
  EXPECT_NE(failure(part(shape, {}, 0, 30), part(shape, {}, 40, 64)).find("tensor w"),
            std::string::npos);
  EXPECT_NE(failure(part(shape, rows, 0, 32), part(shape, more_rows, 0, 40)).find("overlap"),
            std::string::npos);
  EXPECT_NE(failure(part(shape, rows, 0, 32), part(shape, columns, 0, 32)).find("overlap"),
            std::string::npos);
  EXPECT_NE(failure(part(shape, rows, 0, 32), part(shape, rows, 0, 32)).find("no rank holds"),
            std::string::npos);
  EXPECT_NE(
      failure(part(shape, {}, 0, 64), part({4, 8}, {}, 0, 32)).find("tensor w is fp32 [8, 8]"),
      std::string::npos);
}

}  // namespace save_plan_test
}  // namespace mpitron::checkpoint
