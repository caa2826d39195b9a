#include "kernels/attention/latent_qkv.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace latent_qkv_test {

// Two products and an addition in fp32; a sum over heads.
constexpr double kTolerance = 1e-6;
constexpr Index kPositions = 5, kSamples = 2;

struct Sizes {
  Index heads, plain, rotary, value, pairs;  // pairs < 0: no tables
};
constexpr Sizes kSizes[] = {
    {1, 1, 2, 1, 1}, {3, 5, 6, 7, 2}, {4, 16, 34, 8, 17}, {2, 3, 64, 130, 32}, {3, 4, 4, 4, -1},
};

In table(Twin* twin, Side side) {
  return twin != nullptr ? In((*twin)(side)) : In();
}

class HostLatentQkv : public ::testing::TestWithParam<DType> {
 protected:
  struct Tables {
    Twin* cos = nullptr;
    Twin* sin = nullptr;
  };
  static Tables tables(Workbench& bench, const Sizes& c) {
    if (c.pairs < 0) {
      return {};
    }
    return {&bench.input(GetParam(), {kPositions, c.pairs}),
            &bench.input(GetParam(), {kPositions, c.pairs})};
  }
  /// The last has outputs of more than 4 MiB, in whole cache lines: they go past the caches.
  static std::vector<Sizes> cases() {
    std::vector<Sizes> all(std::begin(kSizes), std::end(kSizes));
    all.push_back({160 / static_cast<Index>(size_of(GetParam())), 1024, 32, 1024, 16});
    return all;
  }
  static Shape heads(const Sizes& c, Index width) { return {kPositions, kSamples, c.heads, width}; }
  static Index fused(const Sizes& c) { return 2 * (c.plain + c.rotary) + c.value; }
};

TEST_P(HostLatentQkv, Forward) {
  for (const Sizes& c : cases()) {
    Workbench bench;
    Twin& q = bench.input(GetParam(), heads(c, c.plain + c.rotary));
    Twin& kv = bench.input(GetParam(), heads(c, c.plain + c.value));
    Twin& k_rope = bench.input(GetParam(), {kPositions, kSamples, c.rotary});
    const Tables turns = tables(bench, c);
    Twin& qkv = bench.output(GetParam(), heads(c, fused(c)));
    bench.check(
        [&](Side side) {
          return LatentQkvForward{
              q(side),  kv(side), k_rope(side), table(turns.cos, side), table(turns.sin, side),
              qkv(side)};
        },
        kTolerance);
  }
}

TEST_P(HostLatentQkv, Backward) {
  for (const Sizes& c : cases()) {
    Workbench bench;
    Twin& d_qkv = bench.input(GetParam(), heads(c, fused(c)));
    const Tables turns = tables(bench, c);
    Twin& d_q = bench.output(GetParam(), heads(c, c.plain + c.rotary));
    Twin& d_kv = bench.output(GetParam(), heads(c, c.plain + c.value));
    Twin& d_k_rope = bench.output(GetParam(), {kPositions, kSamples, c.rotary});
    bench.check(
        [&](Side side) {
          return LatentQkvBackward{
              d_qkv(side), table(turns.cos, side), table(turns.sin, side), d_q(side),
              d_kv(side),  d_k_rope(side)};
        },
        kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HostLatentQkv, ::testing::ValuesIn(kTrainingTypes),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace latent_qkv_test
}  // namespace mpitron::kernels
