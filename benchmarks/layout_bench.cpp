// What layouts cost: steps of a third of GPT-2 124M on one rank with two threads, and on two ranks
// with one core each, by the program as a user runs it. A third: 4 of 12 layers and a third of the
// vocabulary, so that layers, output layer and communication keep their shares of a step, and all
// cases end within four minutes.
//   layout_bench [--summary FILE] [PART OF A CASE'S NAME]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "benchmarks/summary.h"

namespace mpitron::benchmarks {
namespace {

constexpr const char* kModel =
    " pretrain-gpt --num-layers 4 --hidden-size 768 --num-attention-heads 12"
    " --max-position-embeddings 1024 --micro-batch-size 1 --lr 1e-4 --log-interval 1 --eval-iters 0"
    " --tokenizer-type NullTokenizer --vocab-size 16752 --mock-data --attention-dropout 0"
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
    constexpr std::size_t kShown = 2000;  // of a failed run the end tells why
    throw std::runtime_error(command + " failed:\n" +
                             all.substr(all.size() - std::min(all.size(), kShown)));
  }
  return best;
}

struct Case {
  const char* name;
  std::string batch;   // flags of both runs
  std::string layout;  // flags of the two ranks
  double goal;         // one rank's time / two ranks' time
};
const std::string kTwo = " --seq-length 1024 --global-batch-size 2";
// Short sequences: 16 microbatches of 1024 tokens would take minutes.
const std::string kSixteen = " --seq-length 256 --bf16 --global-batch-size 16";
const std::string kStages =
    " --pipeline-model-parallel-size 2 --decoder-first-pipeline-num-layers 3";
const std::string kExperts = " --disable-bias-linear --num-experts 8";
const std::string kExpertRanks =
    " --overlap-grad-reduce --expert-model-parallel-size 2 --moe-token-dispatcher-type alltoall";
const std::string kOverlap = " --overlap-moe-expert-parallel-comm --delay-wgrad-compute";
const Case kCases[] = {
    {"dp2_overlap_fp32", kTwo, " --overlap-grad-reduce", 0.95},
    {"dp2_overlap_bf16", kTwo + " --bf16", " --overlap-grad-reduce", 0.95},
    {"ep2_fp32", kTwo + kExperts, kExpertRanks, 0.92},
    {"ep2_bf16", kTwo + kExperts + " --bf16", kExpertRanks, 0.92},
    {"ep2_8_microbatches_bf16", kSixteen + kExperts, kExpertRanks, 0.92},
    {"ep2_8_microbatches_overlap_bf16", kSixteen + kExperts, kExpertRanks + kOverlap, 0.92},
    {"tp2_sp_fp32", kTwo, " --tensor-model-parallel-size 2 --sequence-parallel", 0.88},
    {"pp2_16_microbatches_bf16", kSixteen, kStages, 0.90},
    {"pp2_16_microbatches_zero_bubble_bf16", kSixteen, kStages + " --pipeline-schedule zero-bubble",
     0.90}};

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const std::string wanted = argc > 1 ? argv[1] : "";
  std::map<std::string, double> alone;  // by flags
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mpitron").string();
  for (const Case& which : kCases) {
    if (std::string(which.name).find(wanted) == std::string::npos) {
      continue;
    }
    std::printf("  %s ...\n", which.name);
    std::fflush(stdout);
    const std::string flags = kModel + which.batch;
    if (!alone.contains(flags)) {
      alone[flags] = milliseconds(kOneRank + program + flags);
    }
    const double shared = milliseconds(kTwoRanks + program + flags + which.layout);
    std::printf("  %s: one rank, two threads %.0f ms; two ranks %.0f ms\n", which.name,
                alone[flags], shared);
    summary.add({std::string("layout_") + which.name + "_share_of_one_rank", alone[flags] / shared,
                 "ratio", which.goal});
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
