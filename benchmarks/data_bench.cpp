// Speed of data sets: sample index (all cores, wall time), order of blends and shuffle (one thread,
// processor time), batches (one thread, wall time).
//   data_bench [--summary FILE] [--documents N]
// The goals of the sample index are for 10^9 documents, which take 8 GB; where the machine has less
// free memory, fewer are measured and the time is scaled.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <unistd.h>

#include "benchmarks/summary.h"
#include "data/gpt/gpt_dataset.h"
#include "data/index/blend.h"
#include "data/loading/batch_loader.h"
#include "io/tokens/token_index_writer.h"
#include "utils/check.h"
#include "utils/timer.h"

namespace mpitron::data {
namespace {

using benchmarks::Summary;

constexpr Index kDocumentGoal = 1000000000;

template <class Body>
double seconds_of(Body&& body) {
  const Timer timer;
  body();
  return timer.seconds();
}

/// Processor time of this thread: what others do on the machine does not count.
template <class Body>
double processor_seconds_of(Body&& body) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  body();
  return now() - start;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Index free_bytes() {
  return static_cast<Index>(::sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<Index>(::sysconf(_SC_PAGESIZE));
}

/// Every document once, in an order as random for the memory as a shuffled one, but quick to make.
std::vector<std::int32_t> scattered(Index count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  const Index step = 618033989;  // a prime
  for (Index i = 0, at = 0; i < count; ++i, at = (at + step) % count) {
    order[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(at);
  }
  return order;
}

void measure_sample_index(Index count, Summary& summary) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<std::int32_t>(200 + i * 2654435761u % 1600);
  }
  const GptIndexRequest request{.lengths = {std::as_bytes(std::span(lengths)).data(), count},
                                .end = count,
                                .seq_length = 4096};
  const std::vector<std::int32_t> order = scattered(count);
  GptIndexPlan plan;
  std::vector<std::int32_t> index;
  const double seconds = seconds_of([&] {
    plan = plan_gpt_index(request);
    index = build_sample_index<std::int32_t>(request, plan, std::span<const std::int32_t>(order));
  });
  const double scale = static_cast<double>(kDocumentGoal) / static_cast<double>(count);
  summary.add({.name = "data_sample_index_1e9_documents",
               .value = seconds * scale,
               .unit = "s",
               .goal = 20,
               .higher_is_better = false});
  summary.add({.name = "data_sample_index_bytes",
               .value = static_cast<double>(index.size() * sizeof(index[0])) /
                        static_cast<double>(plan.samples),
               .unit = "bytes/sample",
               .goal = 10,
               .higher_is_better = false});
}

void measure_shuffle(Summary& summary) {
  constexpr Index kSamples = 100000000;
  const GptIndexPlan plan{.samples = kSamples, .samples_sans_final = kSamples};
  RandomState random(1);
  std::vector<std::uint32_t> order;
  const double seconds =
      processor_seconds_of([&] { order = build_shuffle_index<std::uint32_t>(plan, random); });
  summary.add({.name = "data_shuffle_1e8_samples",
               .value = seconds,
               .unit = "s",
               .higher_is_better = false});
}

void measure_blend(Summary& summary) {
  constexpr Index kSamples = 100000000;
  std::vector<double> weights(100);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = 1.0 / static_cast<double>(1 + i);  // Zipf: few large ones, many small ones
  }
  weights = normalized(weights);
  BlendIndex index;
  const double seconds = processor_seconds_of([&] { index = build_blend(weights, kSamples); });
  MPITRON_CHECK(index.member[0] == 0);
  summary.add({.name = "data_blend_100_sets_1e8_samples",
               .value = seconds,
               .unit = "s",
               .goal = 5,
               .higher_is_better = false});
}

/// A corpus of 10^10 tokens in a file with holes: one page is on the disk.
class SparseCorpus {
 public:
  SparseCorpus() : folder_(make_folder()) {
    constexpr std::int32_t kTokens = 1000;
    constexpr Index kSequences = 10000000;
    const std::vector<std::int32_t> lengths(kSequences, kTokens);
    std::vector<std::int64_t> documents(kSequences + 1);
    std::iota(documents.begin(), documents.end(), std::int64_t{0});
    std::ofstream(prefix() + ".bin").close();
    std::filesystem::resize_file(prefix() + ".bin", std::uintmax_t{kSequences} * kTokens * 2);
    io::TokenIndexWriter index(prefix(), io::TokenType::u16, kSequences, kSequences);
    index.add_lengths(lengths);
    index.add_pointers(lengths);
    index.add_documents(documents);
    index.commit([] {});
  }
  ~SparseCorpus() { std::filesystem::remove_all(folder_); }
  SparseCorpus(const SparseCorpus&) = delete;
  SparseCorpus& operator=(const SparseCorpus&) = delete;

  std::string prefix() const { return folder_ / "sparse"; }

 private:
  static std::filesystem::path make_folder() {
    std::string name = std::filesystem::temp_directory_path() / "mpitron-bench-XXXXXX";
    MPITRON_CHECK(::mkdtemp(name.data()) != nullptr, name);
    return name;
  }

  std::filesystem::path folder_;
};

/// The same batches again and again: their pages and indices are warm.
void measure_batch(Summary& summary) {
  const SparseCorpus corpus;
  const auto source = std::make_shared<const CorpusSource>(corpus.prefix(), io::BinAccess::mapped);
  GptDatasetOptions options;
  options.description.seq_length = 4096;
  options.end = source->lengths().size();
  options.vocab_size = 50304;
  const auto dataset = std::make_shared<const GptDataset>(source, std::move(options));
  BatchLoaderOptions loading;
  loading.sample = {.seq_length = 4096, .eod = 50256};
  loading.sampler = {.total_samples = 64, .micro_batch_size = 4};
  loading.prefetch = 0;
  std::vector<double> times;
  for (int round = 0; round < 40; ++round) {
    BatchLoader loader(dataset, loading);
    for (int i = 0; i < 16; ++i) {
      const double seconds = seconds_of([&] { MPITRON_CHECK(loader.next() != nullptr); });
      if (round > 0 && i > 0) {  // the first call of a loader touches new memory
        times.push_back(seconds);
      }
    }
  }
  summary.add({.name = "data_batch_4x4096",
               .value = 1e6 * median(times),
               .unit = "us",
               .goal = 50,
               .higher_is_better = false});
}

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  Index documents = std::clamp(free_bytes() / 16, Index{10000000}, kDocumentGoal);
  for (int i = 1; i + 1 < argc; ++i) {
    documents = std::string_view(argv[i]) == "--documents" ? std::atoll(argv[i + 1]) : documents;
  }
  measure_batch(summary);
  measure_blend(summary);
  measure_shuffle(summary);
  measure_sample_index(documents, summary);
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::data

int main(int argc, char** argv) {
  return mpitron::data::run(argc, argv);
}
