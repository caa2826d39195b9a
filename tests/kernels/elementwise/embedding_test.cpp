#include "kernels/elementwise/embedding.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace embedding_test {

// Ids below and above this rank's share [3, 10), and one that comes often.
const std::vector<double> kIds = {3, 9, 2, 10, 5, 5, 5, 5, 0, 4, 9, 5, 5};
const std::vector<double> kPositions = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2};
constexpr Index kTokens = 13;

/// Where rows can be read in whole packs, and where not.
Layout layout_of(Index h) {
  return h % 8 == 0 ? Layout{} : Layout{1, 3};
}

TEST(Embedding, Forward) {
  for (const DType dtype : kTrainingTypes) {
    for (const Index h : kOddSizes) {
      for (const bool with_positions : {false, true}) {
        Workbench bench(layout_of(h));
        Twin &ids = bench.integers(kIds), &table = bench.input(dtype, {7, h});
        Twin &position_ids = bench.integers(kPositions), &positions = bench.input(dtype, {5, h});
        Twin& y = bench.output(dtype, {kTokens, h});
        bench.check(
            [&](Side side) {
              EmbeddingForward k{ids(side), table(side), {}, {}, y(side), 3};
              if (with_positions) {
                k.position_ids = position_ids(side);
                k.positions = positions(side);
              }
              return k;
            },
            1e-7);  // one addition
      }
    }
  }
}

TEST(Embedding, Backward) {
  for (const DType dtype : kTrainingTypes) {
    for (const DType table_dtype : {dtype, DType::f32}) {
      for (const Index h : {1, 17, 64, 65, 1000}) {
        for (const bool accumulate : {false, true}) {
          Workbench bench(layout_of(h));
          Twin &ids = bench.integers(kIds), &dy = bench.input(dtype, {kTokens, h});
          Twin& dtable =
              accumulate ? bench.inout(table_dtype, {7, h}) : bench.output(table_dtype, {7, h});
          bench.check(
              [&](Side side) {
                return EmbeddingBackward{ids(side), dy(side), dtable(side), {}, 3, accumulate};
              },
              1e-6);  // six additions in fp32; in narrow types both sides round each of them
        }
      }
    }
  }
}

// More tokens than a GPU's block sorts (1024), of few rows and of many.
TEST(Embedding, BackwardOfManyTokens) {
  constexpr Index kMany = 2500, kWidth = 8;
  for (const Index rows : {3, 2000}) {
    std::vector<double> ids(kMany);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<double>(i * i % static_cast<std::size_t>(rows + 1));
    }
    for (const DType table_dtype : {DType::f32, DType::bf16}) {
      Workbench bench;
      Twin &tokens = bench.integers(ids), &dy = bench.input(DType::bf16, {kMany, kWidth});
      Twin& dtable = bench.output(table_dtype, {rows, kWidth});
      bench.check(
          [&](Side side) {
            return EmbeddingBackward{tokens(side), dy(side), dtable(side), {}, 0, false};
          },
          1e-5);  // up to 1250 additions in fp32
    }
  }
}

}  // namespace embedding_test
}  // namespace mpitron::kernels
