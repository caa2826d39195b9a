#include "kernels/host/common/parallel.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include "kernels/elementwise/cross_entropy.h"
#include "kernels/elementwise/dropout.h"
#include "kernels/elementwise/embedding.h"
#include "kernels/elementwise/norm.h"
#include "kernels/elementwise/optimizer.h"
#include "tests/kernels/workbench.h"
#include "utils/numbers/exact_sum.h"
#include "utils/text/hash.h"

namespace mpitron::kernels {
namespace parallel_test {

TEST(Parallel, EveryIndexOnce) {
  for (const Index count : {0, 1, 2, 3, 7, 1000}) {
    for (const Index work : {Index{1}, Index{1} << 30}) {
      std::vector<int> visits(static_cast<std::size_t>(count), 0);
      host::for_blocks(count, work, [&](Index i) { ++visits[static_cast<std::size_t>(i)]; });
      EXPECT_EQ(visits, std::vector<int>(static_cast<std::size_t>(count), 1)) << count;
    }
  }
}

TEST(Parallel, RangesAreDisjointAndWorkersCounted) {
  std::array<Index, 64> sizes{};
  host::for_ranges(1000, Index{1} << 30, [&](Index begin, Index end, Index worker) {
    ASSERT_LT(worker, host::max_workers());
    sizes[static_cast<std::size_t>(worker)] += end - begin;
  });
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), Index{0}), 1000);
}

TEST(Parallel, SmallWorkStaysOnTheCaller) {
  Index ranges = 0;
  host::for_ranges(1000, 100, [&](Index begin, Index end) {
    ++ranges;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 1000);
  });
  EXPECT_EQ(ranges, 1);
}

// --- bits do not depend on the number of threads -------------------------------------------------

/// Prints the hash of a tensor: what the processes below are compared by.
void print(const char* name, TestTensor& tensor) {
  const auto& bytes = tensor.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::printf("bits %s %016llx\n", name, static_cast<unsigned long long>(hash64(text)));
}

TestTensor numbers(DType dtype, const Shape& shape, unsigned seed) {
  return {dtype, shape, test_values(shape.numel(), seed)};
}

constexpr Index kTokens = 1003, kWidth = 515;

void print_norm_bits(device::HostStream& stream) {
  const Shape shape{kTokens, kWidth};
  TestTensor x = numbers(DType::bf16, shape, 1), dy = numbers(DType::bf16, shape, 2);
  TestTensor gamma = numbers(DType::f32, {kWidth}, 3), beta = numbers(DType::f32, {kWidth}, 4);
  TestTensor y(DType::bf16, shape), mean(DType::f32, {kTokens}), rstd(DType::f32, {kTokens});
  run(stream,
      LayerNormForward{x.view(), gamma.view(), beta.view(), y.view(), mean.view(), rstd.view()});
  TestTensor dx(DType::bf16, shape), dgamma(DType::f32, {kWidth}), dbeta(DType::f32, {kWidth});
  LayerNormBackward backward{x.view(), dy.view(), gamma.view(),  mean.view(),  rstd.view(),
                             {},       dx.view(), dgamma.view(), dbeta.view(), {}};
  std::vector<double> workspace(static_cast<std::size_t>(workspace_bytes(stream, backward)) / 8);
  backward.workspace =
      device::TensorView(workspace.data(), DType::f64, {static_cast<Index>(workspace.size())});
  run(stream, backward);
  print("layer_norm.y", y);
  print("layer_norm.dx", dx);
  print("layer_norm.dgamma", dgamma);
  print("layer_norm.dbeta", dbeta);
  RmsNormBackward rms{x.view(), dy.view(), gamma.view(), rstd.view(), {}, dx.view(), {}, {}};
  rms.dgamma = dgamma.view();
  rms.workspace = backward.workspace;
  run(stream, rms);
  print("rms_norm.dgamma", dgamma);
}

void print_loss_bits(device::HostStream& stream) {
  TestTensor logits = numbers(DType::f32, {257, 5003}, 5), loss(DType::f32, {257});
  TestTensor lse(DType::f32, {257});
  std::vector<std::int64_t> labels(257, 11);
  const In label_view(labels.data(), DType::i64, {257});
  run(stream, CrossEntropyForward{logits.view(), label_view, loss.view(), lse.view()});
  print("cross_entropy.loss", loss);
  run(stream,
      CrossEntropyBackward{logits.view(), label_view, lse.view(), loss.view(), logits.view()});
  print("cross_entropy.dlogits", logits);
}

void print_other_bits(device::HostStream& stream) {
  TestTensor dy = numbers(DType::bf16, {kTokens, kWidth}, 6), dtable(DType::bf16, {10, kWidth});
  std::vector<std::int64_t> ids(kTokens);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<std::int64_t>(i * i % 10);
  }
  run(stream,
      EmbeddingBackward{
          In(ids.data(), DType::i64, {kTokens}), dy.view(), InOut{dtable.view()}, {}, 0, false});
  print("embedding.dtable", dtable);

  DropoutMask mask;
  mask.threshold = dropout_threshold(0.1);
  run(stream, BiasDropoutAddForward{dy.view(), {}, {}, dy.view(), 1, mask});
  print("dropout.y", dy);

  TestTensor result(DType::i64, {exact_sum::kBins});
  run(stream, SumOfSquares{dy.view(), result.view()});
  exact_sum::carry(exact_sum::Bins(result.view().as<std::int64_t>(), exact_sum::kBins));
  print("sum_of_squares", result);
}

/// Not a test by itself: the processes below run it with different numbers of threads.
TEST(Parallel, DISABLED_PrintBits) {
  device::HostStream stream;
  std::printf("threads %d\n", static_cast<int>(host::max_workers()));
  print_norm_bits(stream);
  print_loss_bits(stream);
  print_other_bits(stream);
}

/// The lines that PrintBits prints in a process with this many threads.
std::vector<std::string> bits_with(int threads) {
  std::vector<char> self(4096, '\0');
  EXPECT_GT(::readlink("/proc/self/exe", self.data(), self.size() - 1), 0);
  const std::string command =
      "OMP_NUM_THREADS=" + std::to_string(threads) + " '" + std::string(self.data()) +
      "' --gtest_also_run_disabled_tests --gtest_filter=Parallel.DISABLED_PrintBits";
  std::vector<std::string> lines;
  FILE* pipe = ::popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  char line[256];
  bool threads_seen = false;
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    threads_seen |= line == "threads " + std::to_string(threads) + "\n";
    if (std::string(line).rfind("bits ", 0) == 0) {
      lines.emplace_back(line);
    }
  }
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_TRUE(threads_seen) << "the process did not run " << threads << " threads";
  return lines;
}

TEST(Parallel, BitsDoNotDependOnThreads) {
  const std::vector<std::string> one = bits_with(1);
  EXPECT_EQ(one.size(), 10u);
  EXPECT_EQ(bits_with(2), one);
  EXPECT_EQ(bits_with(3), one);
}

}  // namespace parallel_test
}  // namespace mpitron::kernels
