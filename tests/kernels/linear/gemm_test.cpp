#include "kernels/host/linear/gemm.h"

#include <gtest/gtest.h>
#include <omp.h>

#include "support/counted_new.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels::host {

namespace gemm_test {

struct Problem {
  Index m, n, k;
};

/// The bits of a product planned for and run by `threads` threads.
std::vector<std::byte> product_bits(const Problem& size, DType type, bool transposed, bool packed,
                                    int threads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  GemmProblem problem;
  problem.m = size.m;
  problem.n = size.n;
  problem.k = size.k;
  problem.a_stride = size.k;
  problem.b_transposed = transposed;
  problem.b_stride = transposed ? size.k : size.n;
  problem.c_stride = size.n;
  problem.type = type;
  problem.b_packed = packed;
  problem.threads = threads;
  TestTensor a(type, {size.m, size.k}, test_values(size.m * size.k, 1));
  TestTensor b(type, {size.k * size.n}, test_values(size.k * size.n, 2));
  TestTensor c(DType::f32, {size.m, size.n});
  Gemm gemm(problem);
  TestTensor storage(DType::u8, {gemm.packed_bytes() + 64});
  void* at = b.view().data;
  if (packed) {
    auto* start = static_cast<char*>(storage.view().data);
    at = start + (64 - reinterpret_cast<std::uintptr_t>(start) % 64);
    gemm.pack(b.view().data, at);
  }
  gemm.run(a.view().data, at, nullptr, c.view().data);
  omp_set_num_threads(before);
  return c.bytes();
}

// Thin products with many terms are the ones a library likes to split over k. 64 threads: a larger
// machine, crowded onto this one.
TEST(Gemm, TheBitsDoNotDependOnTheNumberOfThreads) {
  constexpr Problem kProblems[] = {{64, 192, 64},  {64, 64, 256},  {64, 256, 64},  {192, 64, 64},
                                   {8, 64, 4096},  {64, 64, 4096}, {1, 64, 5000},  {128, 64, 2048},
                                   {64, 5030, 64}, {64, 64, 5030}, {300, 97, 1030}};
  for (const Problem& size : kProblems) {
    for (const DType type : {DType::f32, DType::bf16}) {
      if (!Gemm::multiplies(type)) {
        continue;
      }
      for (int variant = 0; variant < 4; ++variant) {
        const bool transposed = (variant & 1) != 0;
        const bool packed = (variant & 2) != 0;
        const auto once = product_bits(size, type, transposed, packed, 1);
        for (const int threads : {2, 3, 4, 16, 64}) {
          EXPECT_TRUE(product_bits(size, type, transposed, packed, threads) == once)
              << size.m << "x" << size.n << "x" << size.k << " " << name_of(type) << " variant "
              << variant << ", " << threads << " threads";
        }
      }
    }
  }
}

TEST(Gemm, ASteadyProductAllocatesNothingOfOurs) {
  const DType type = Gemm::multiplies(DType::bf16) ? DType::bf16 : DType::f32;
  TestTensor a(type, {64, 64}), b(type, {64, 192}), c(type, {64, 192});
  const Matmul kernel{a.view(), b.view(), {}, c.view(), {}};
  device::HostStream stream;
  run(stream, kernel);
  run(stream, kernel);
  const std::int64_t before = test::allocations();
  for (int i = 0; i < 100; ++i) {
    run(stream, kernel);
  }
  // oneDNN's own map of arguments has a node for each and a table: short-lived, a few bytes.
  EXPECT_LE(test::allocations() - before, 100 * 6);
}

TEST(OnednnVersion, RunsWhatItWasBuiltWith) {
  const LibraryVersion version = onednn_version();
  EXPECT_EQ(version.name, "oneDNN");
  EXPECT_EQ(version.built, version.running);
}

}  // namespace gemm_test

}  // namespace mpitron::kernels::host
