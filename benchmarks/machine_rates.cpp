#include "benchmarks/machine_rates.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "benchmarks/peaks.h"
#include "kernels/host/common/parallel.h"

namespace mpitron::benchmarks {

namespace {
constexpr Index kCopyBytes = Index{256} << 20;
}  // namespace

double best_seconds(int repetitions, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    const auto begin = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

double copy_bandwidth(int repetitions) {
  const auto elements = static_cast<std::size_t>(kCopyBytes) / sizeof(float);
  std::vector<float> from(elements + 16, 1.f), to(elements + 16, 0.f);
  const auto aligned = [](std::vector<float>& buffer) {
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.data());
    return buffer.data() + (64 - address % 64) % 64 / sizeof(float);
  };
  const float* source = aligned(from);
  float* target = aligned(to);
  const double seconds = best_seconds(repetitions + 1, [&] {
    kernels::host::for_ranges(kCopyBytes / 4096, kCopyBytes, [&](Index begin, Index end) {
      stream_copy(source + begin * 1024, target + begin * 1024, (end - begin) * 1024);
    });
  });
  return 2.0 * static_cast<double>(kCopyBytes) / seconds;
}

double read_bandwidth(int repetitions) {
  const std::vector<float> from(static_cast<std::size_t>(kCopyBytes) / sizeof(float), 1.f);
  std::vector<float> sums(static_cast<std::size_t>(kernels::host::max_workers()) * 16);
  const double seconds = best_seconds(repetitions + 1, [&] {
    kernels::host::for_ranges(kCopyBytes / 4096, kCopyBytes,
                              [&](Index begin, Index end, Index worker) {
                                sums[static_cast<std::size_t>(worker) * 16] =
                                    sum_of(from.data() + begin * 1024, (end - begin) * 1024);
                              });
  });
  return static_cast<double>(kCopyBytes) / seconds;
}

double fma_peak(int repetitions) {
  constexpr Index kRounds = 4'000'000;
  const Index workers = kernels::host::max_workers();
  const double seconds = best_seconds(repetitions + 1, [&] {
    kernels::host::for_blocks(workers, workers << 30, [&](Index) { multiply_add_rounds(kRounds); });
  });
  return kFlopsPerRound * static_cast<double>(kRounds * workers) / seconds;
}

template <class T>
double silu_rate(int repetitions) {
  constexpr Index kNumbers = 1024, kRounds = 4096;
  const Index workers = kernels::host::max_workers();
  const std::vector<T> x(static_cast<std::size_t>(kNumbers), T(0.5F));
  std::vector<T> y(static_cast<std::size_t>(kNumbers * workers));
  const double seconds = best_seconds(repetitions + 1, [&] {
    kernels::host::for_blocks(workers, workers << 30, [&](Index worker) {
      for (Index round = 0; round < kRounds; ++round) {
        silus(x.data(), y.data() + worker * kNumbers, kNumbers);
      }
    });
  });
  return static_cast<double>(kNumbers * kRounds * workers) / seconds;
}

template double silu_rate<float>(int);
template double silu_rate<BFloat16>(int);

}  // namespace mpitron::benchmarks
