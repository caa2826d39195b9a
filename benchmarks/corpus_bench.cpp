// Speed of the corpus tools on one thread, in MB/s of JSONL:
//   corpus_bench [--summary FILE]
#include <filesystem>
#include <random>

#include "corpus/clean.h"
#include "corpus/dedup.h"
#include "summary.h"
#include "utils/system/files.h"

namespace mpitron::benchmarks {
namespace {

constexpr int kDocuments = 8000;
constexpr int kWords = 500;
constexpr int kRepetitions = 3;

std::string make_corpus() {
  static constexpr const char* kText[] = {"the",    "of",      "and",    "to",     "in",
                                          "that",   "was",     "for",    "with",   "river",
                                          "stone",  "light",   "bridge", "winter", "garden",
                                          "letter", "morning", "voice",  "market", "window"};
  std::mt19937 random(1);
  std::string corpus;
  for (int d = 0; d < kDocuments; ++d) {
    corpus += "{\"url\": \"http://site.org/" + std::to_string(d) + "\", \"text\": \"";
    for (int w = 0; w < kWords; ++w) {
      corpus += kText[random() % std::size(kText)];
      corpus += random() % 11 == 0 ? std::to_string(random() % 1000) + ". " : " ";
    }
    corpus += "\"}\n";
  }
  return corpus;
}

template <class Run>
double best_rate(const Run& run) {
  double best = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto report = run();
    best = std::max(best, static_cast<double>(report.bytes) * 1e-6 / report.seconds);
  }
  return best;
}

int measure(int argc, char** argv) {
  Summary summary(argc, argv);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "mpitron-corpus-bench";
  std::filesystem::create_directories(folder);
  {
    AtomicFile file(folder / "in.jsonl");
    file.write(make_corpus());
    file.commit();
  }
  corpus::CleanOptions clean;
  clean.inputs = {folder / "in.jsonl"};
  clean.output = folder / "clean.jsonl";
  summary.add({"corpus/clean", best_rate([&] { return corpus::clean(clean); }), "MB/s"});
  corpus::DedupOptions dedup;
  dedup.inputs = clean.inputs;
  dedup.output = folder / "unique.jsonl";
  summary.add({"corpus/dedup", best_rate([&] { return corpus::dedup(dedup); }), "MB/s"});
  std::filesystem::remove_all(folder);
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::measure(argc, argv);
}
