// What layouts cost: steps of GPT-2 124M on one rank with two threads, and on two ranks with one
// core each, by the program as a user runs it.
//   layout_bench [--summary FILE]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "benchmarks/summary.h"

namespace mpitron::benchmarks {
namespace {

constexpr const char* kModel =
    " pretrain-gpt --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024"
    " --max-position-embeddings 1024 --micro-batch-size 1 --lr 1e-4 --log-interval 1 --eval-iters 0"
    " --tokenizer-type NullTokenizer --vocab-size 50256 --mock-data --attention-dropout 0"
    " --hidden-dropout 0 --train-iters 3";

constexpr const char* kOneRank = "OMP_NUM_THREADS=2 ";
// Also as root, and where Open MPI counts fewer cores than there are.
constexpr const char* kTwoRanks =
    "OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    " OMPI_MCA_rmaps_base_oversubscribe=1 mpirun -n 2 ";

/// Milliseconds of the fastest iteration that the command reports; the first one touches memory.
double milliseconds(const std::string& command) {
  FILE* output = ::popen((command + " 2>&1").c_str(), "r");
  if (output == nullptr) {
    throw std::runtime_error("cannot start a shell");
  }
  const std::string name = "elapsed time per iteration (ms): ";
  std::string all;
  double best = 0;
  for (std::array<char, 4096> line; std::fgets(line.data(), line.size(), output) != nullptr;) {
    const std::string text(line.data());
    all += text;
    if (const auto at = text.find(name); at != std::string::npos) {
      const double value = std::strtod(text.c_str() + at + name.size(), nullptr);
      best = best == 0 ? value : std::min(best, value);
    }
  }
  if (::pclose(output) != 0 || best == 0) {
    throw std::runtime_error(command + " failed:\n" + all);
  }
  return best;
}

struct Case {
  const char* name;
  const char* batch;   // flags of both runs
  const char* layout;  // flags of the two ranks
  double goal;         // one rank's time / two ranks' time
  double bubble;       // of the schedule: idle / busy
};
// 16 microbatches would take minutes; 8 show the same, as the bubble is taken out.
constexpr Case kCases[] = {
    {"dp2_overlap_fp32", " --global-batch-size 2", " --overlap-grad-reduce", 0.95, 0},
    {"dp2_overlap_bf16", " --bf16 --global-batch-size 2", " --overlap-grad-reduce", 0.95, 0},
    {"tp2_sp_fp32", " --global-batch-size 2", " --tensor-model-parallel-size 2 --sequence-parallel",
     0.88, 0},
    {"pp2_8_microbatches_bf16", " --bf16 --global-batch-size 8",
     " --pipeline-model-parallel-size 2 --decoder-first-pipeline-num-layers 9", 0.90, 1.0 / 8}};

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mpitron").string();
  for (const Case& which : kCases) {
    const std::string flags = std::string(kModel) + which.batch;
    const double alone = milliseconds(kOneRank + program + flags);
    const double shared = milliseconds(kTwoRanks + program + flags + which.layout);
    std::printf("  %s: one rank, two threads %.0f ms; two ranks %.0f ms\n", which.name, alone,
                shared);
    summary.add({std::string("layout_") + which.name + "_share_of_one_rank",
                 alone * (1 + which.bubble) / shared, "ratio", which.goal});
  }
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  try {
    return mpitron::benchmarks::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "layout_bench: %s\n", error.what());
    return 1;
  }
}
