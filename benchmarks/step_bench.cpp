// Whole training steps: GPT-2 124M, a mixture of experts, BERT and T5 of its width, Mamba-2 130M
// and ViT-B/16 against the GEMM step ceiling of the same run, a tiny GPT against the clock,
// low-rank updates against all weights, and the start of the program.
//   step_bench [--summary FILE] [--profile] [CASE ...]  cases: see kCases, tiny, low-rank, start
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "benchmarks/ceiling.h"
#include "benchmarks/summary.h"
#include "benchmarks/timed_training.h"
#include "device/launch_profile.h"

namespace mpitron::benchmarks {
namespace {

using enum config::ModelKind;
constexpr Model kGpt2{gpt, 12, 768, 12, 1024, 50304};
constexpr Model kGpt2Experts{gpt, 12, 768, 12, 1024, 50304, 8};
constexpr Model kBertBase{bert, 12, 768, 12, 512, 30592};
constexpr Model kT5Base{t5, 12, 768, 12, 512, 32128, 0, 128};
constexpr Model kMamba2{mamba, 24, 768, 24, 2048, 50304, 0, 0, 0, 128};
constexpr Model kVitBase{vit, 12, 768, 12, 197, 1000};  // the last: classes
constexpr Model kTiny{gpt, 4, 64, 4, 32, 256};

struct Case {
  const char* name;
  const Model& model;
  Index micro_batch;
  DType dtype;
  double goal;  // share of the GEMM step ceiling
  int steps;    // after the first
};
constexpr Case kCases[] = {{"fp32-mbs1", kGpt2, 1, DType::f32, 0.83, 3},
                           {"bf16-mbs1", kGpt2, 1, DType::bf16, 0.75, 5},
                           {"fp32-mbs4", kGpt2, 4, DType::f32, 0.88, 1},
                           {"bf16-mbs4", kGpt2, 4, DType::bf16, 0.82, 2},
                           {"fp32-moe-mbs4", kGpt2Experts, 4, DType::f32, 0.75, 1},
                           {"bert-fp32", kBertBase, 8, DType::f32, 0.80, 1},
                           {"bert-bf16", kBertBase, 8, DType::bf16, 0.80, 2},
                           {"t5-fp32", kT5Base, 8, DType::f32, 0.80, 1},
                           {"t5-bf16", kT5Base, 8, DType::bf16, 0.80, 2},
                           {"mamba-fp32", kMamba2, 1, DType::f32, 0.75, 2},
                           {"mamba-bf16", kMamba2, 1, DType::bf16, 0.65, 3},
                           {"vit-fp32", kVitBase, 8, DType::f32, 0.85, 2},
                           {"vit-bf16", kVitBase, 8, DType::bf16, 0.80, 3}};

/// The first step, which touches the memory and plans the products.
double first_step(device::Device& device, TimedTraining& training, bool with_profile) {
  std::optional<device::LaunchProfile> profile;
  if (with_profile) {
    profile.emplace(device);
  }
  const double seconds = training.step();
  if (profile) {
    fmt::print("first step\n{}\n", profile->table(seconds, false));
  }
  return seconds;
}

void print_profile(device::Device& device, TimedTraining& training) {
  device::LaunchProfile profile(device);
  const double seconds = training.step();
  fmt::print("{}\n{}", profile.table(seconds, false), profile.table(seconds, true));
}

void measure(Summary& summary, device::Device& device, const Case& which, bool with_profile) {
  const Index tokens = which.micro_batch * which.model.sequence;
  StepCeilingRounds limit(tokens, which.dtype);
  TimedTraining training(device, which.model, which.micro_batch, which.dtype);
  const double first = first_step(device, training, with_profile);
  double best = 1e30;
  limit.round();
  for (int i = 0; i < which.steps; ++i) {
    best = std::min(best, training.step());
    limit.round();
  }
  fmt::print("  {}: first step {:.3f} s, best of {} others {:.3f} s\n", which.name, first,
             which.steps, best);
  if (with_profile) {
    print_profile(device, training);
  }
  best = std::min(best, first);
  const double rate = static_cast<double>(tokens) / best;
  const double flops =
      static_cast<double>(which.micro_batch) * flops_per_sample(which.model) / best;
  const double ceiling = limit.ceiling().rate();
  const std::string head =
      fmt::format("step_{}{}_", which.model.kind == gpt ? "gpt2_124m_" : "", which.name);
  summary.add({head + "tokens_per_second", rate, "tokens/s"});
  summary.add(
      {head + "needed_gflops", flops * 1e-9, "GFLOP/s", Figure::kNone, true, ceiling * 1e-9});
  summary.add({head + "share_of_gemm_ceiling", flops / ceiling, "ratio", which.goal, true, 1.0});
}

void tiny(Summary& summary, device::Device& device, bool with_profile) {
  TimedTraining training(device, kTiny, 2, DType::f32);
  for (int i = 0; i < 20; ++i) {
    training.step();
  }
  const Index before = device.allocator().statistics().system_allocations;
  double best = 1e30;
  for (int i = 0; i < 200; ++i) {
    best = std::min(best, training.step());
  }
  const Index taken = device.allocator().statistics().system_allocations - before;
  if (with_profile) {
    print_profile(device, training);
  }
  const std::string head = fmt::format("step_tiny_gpt_{}_threads_", device::HostRuntime::threads());
  const double goal = device::HostRuntime::threads() == 1 ? 2.0 : Figure::kNone;
  summary.add({head + "ms", best * 1e3, "ms", goal, false, Figure::kNone, "torch 5.3 ms"});
  summary.add({head + "system_allocations_in_200_steps", static_cast<double>(taken), "", 0, false});
}

/// Steps that train low-rank updates alone, over weights as they are and in 4 bits, against those
/// that train all weights of the same model; in turns.
void low_rank(Summary& summary) {
  const auto device = device::make_device("host");
  constexpr Model kModel{gpt, 4, 768, 12, 512, 8192};
  constexpr Index kRows = 2;
  const Flags kinds[] = {
      {}, {"--lora-rank", "16"}, {"--lora-rank", "16", "--lora-base-weights", "nf4"}};
  std::vector<std::unique_ptr<TimedTraining>> trainings;
  for (const Flags& more : kinds) {
    trainings.push_back(std::make_unique<TimedTraining>(*device, kModel, kRows, DType::f32, more));
  }
  double best[] = {1e30, 1e30, 1e30};
  for (int i = 0; i < 6; ++i) {
    for (std::size_t kind = 0; kind < trainings.size(); ++kind) {
      best[kind] = std::min(best[kind], trainings[kind]->step());
    }
  }
  summary.add({"step_low_rank_tokens_per_second",
               static_cast<double>(kRows * kModel.sequence) / best[1], "tokens/s"});
  summary.add({"step_low_rank_of_full_step_rate", best[0] / best[1], "ratio", 1.25});
  summary.add({"step_low_rank_in_4_bits_of_full_step_rate", best[0] / best[2], "ratio"});
}

/// From the start of `mpitron pretrain-gpt` to the line of its first iteration.
void start(Summary& summary) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mpitron";
  std::string command = fmt::format("'{}' pretrain-gpt", program.string());
  for (const std::string& flag : flags_of(kTiny, 2, DType::f32)) {
    command += " " + flag;
  }
  command += " --train-iters 1 --log-interval 1 --eval-iters 0 --split 1,0,0 2>&1";
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    FILE* output = ::popen(command.c_str(), "r");
    char line[4096];
    bool seen = false;
    std::string last;
    while (output != nullptr && std::fgets(line, sizeof line, output) != nullptr) {
      last = line;
      if (!seen && std::strstr(line, "iteration") != nullptr && std::strstr(line, "1/")) {
        seen = true;
        best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
      }
    }
    if (output == nullptr || ::pclose(output) != 0 || !seen) {
      fmt::print("  start: no first iteration from {}: {}\n", command, last);
      return;
    }
  }
  summary.add({"start_to_first_iteration", best, "s", 1.0, false});
}

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto given = [&](const char* name) { return std::ranges::count(arguments, name) > 0; };
  const bool with_profile = given("--profile");
  const bool all = static_cast<int>(arguments.size()) == (with_profile ? 1 : 0);
  if (all || given("start")) {
    start(summary);
  }
  const device::HostRuntime runtime;
  // The memory that a device keeps goes with it: all cases together would need 24 GiB.
  if (all || given("tiny")) {
    tiny(summary, *device::make_device("host"), with_profile);
  }
  if (all || given("low-rank")) {
    low_rank(summary);
  }
  for (const Case& which : kCases) {
    if (all || given(which.name)) {
      measure(summary, *device::make_device("host"), which, with_profile);
    }
  }
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::run(argc, argv);
}
