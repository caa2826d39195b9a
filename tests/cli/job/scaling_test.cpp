#include <gtest/gtest.h>

#include "cli/command_test.h"

namespace mpitron::cli {
namespace scaling_test {

using namespace mpitron::test;

class ScalingCommand : public CommandTest {};

/// Two points on one and two ranks; `more` are flags of the second.
std::string study(const std::string& more = "") {
  return "name: two points\nkind: weak\nwarm-up: 1\npeak-tflops: 1\n"
         "flags: {num-layers: 1, hidden-size: 16, num-attention-heads: 2, seq-length: 8,\n"
         "  max-position-embeddings: 8, micro-batch-size: 1, lr: 1e-3, mock-data: true,\n"
         "  tokenizer-type: NullTokenizer, vocab-size: 63, train-iters: 3, eval-iters: 0}\n"
         "points:\n"
         "  - {name: one, ranks: 1, flags: {global-batch-size: 2}}\n"
         "  - {name: two, ranks: 2, flags: {global-batch-size: 4" +
         more + "}}\n";
}

TEST_F(ScalingCommand, RunsAStudyAndReportsIt) {
  write_bytes(folder_ / "s.yaml", study());
  const Finished end = run({"scaling", "run", "s.yaml"});
  ASSERT_EQ(end.code, 0) << end.err << end.out;
  std::istringstream csv(read_file(folder_ / "scaling/s/report.csv"));
  Words lines;
  for (std::string line; std::getline(csv, line);) {
    lines.push_back(line);
  }
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[1].starts_with("one,1,")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("two,2,")) << lines[2];
  EXPECT_TRUE(lines[2].ends_with(",,,")) << "neither published nor planned: " << lines[2];
  EXPECT_EQ(lines[2].find(",,"), lines[2].size() - 3) << "everything else: " << lines[2];
  EXPECT_TRUE(contains(end.out, "predicted")) << end.out;
  EXPECT_TRUE(contains(read_file(folder_ / "scaling/s/report.html"), "<h1>two points</h1>"));
  const Finished again = run({"scaling", "report", "s.yaml"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(end.out, again.out)) << "the same figures\n" << again.out;
}

TEST_F(ScalingCommand, APointThatFailsIsToldAndTheOthersGoOn) {
  write_bytes(folder_ / "s.yaml", study(", data-path: missing, mock-data: false"));
  const Finished end = run({"scaling", "run", "s.yaml", "--output", "out"});
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_TRUE(contains(end.err, "two: ended with code")) << end.err;
  EXPECT_TRUE(contains(read_file(folder_ / "out/report.csv"), "\ntwo,2,,,")) << end.out;
}

TEST_F(ScalingCommand, DryRunsPrintCommands) {
  write_bytes(folder_ / "s.yaml", study());
  const Finished mpirun = run({"scaling", "run", "s.yaml", "--dry-run"});
  EXPECT_EQ(mpirun.code, 0) << mpirun.err;
  EXPECT_TRUE(contains(mpirun.out, "OMP_NUM_THREADS=1")) << mpirun.out;
  EXPECT_TRUE(contains(mpirun.out, "mpirun -n 2 ")) << mpirun.out;
  EXPECT_TRUE(contains(mpirun.out, "--tensorboard-dir scaling/s/two\n")) << mpirun.out;
  const Finished sbatch = run({"scaling", "run", "s.yaml", "--dry-run", "--launcher", "sbatch",
                               "--sbatch-flags=--partition=long --exclusive"});
  EXPECT_EQ(sbatch.code, 0) << sbatch.err;
  EXPECT_TRUE(contains(sbatch.out, "--ntasks=2 --cpus-per-task=1 ")) << sbatch.out;
  EXPECT_TRUE(contains(sbatch.out, " --partition=long --exclusive '--wrap=jobs/launch.sh "))
      << sbatch.out;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "scaling"));
}

TEST_F(ScalingCommand, RefusesWhatCannotRunBeforeAnythingStarts) {
  expect_refused({"scaling"}, 2, "a command is missing");
  expect_refused({"scaling", "run"}, 2, "one study comes first");
  expect_refused({"scaling", "run", "missing.yaml"}, 4, "missing.yaml");
  write_bytes(folder_ / "s.yaml", study(", tensor-model-parallel-size: 3"));
  expect_refused({"scaling", "run", "s.yaml"}, 2, "point 'two': ");
  write_bytes(folder_ / "s.yaml", study(", train-iters: 1"));
  expect_refused({"scaling", "run", "s.yaml"}, 2, "above the study's warm-up of 1");
  write_bytes(folder_ / "s.yaml", "command: train\n" + study());
  expect_refused({"scaling", "run", "s.yaml"}, 2, "none of pretrain-gpt");
  write_bytes(folder_ / "s.yaml", study());
  expect_refused({"scaling", "run", "s.yaml", "--launcher", "sbatch"}, 2, "--launch-script");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "scaling"));
}

TEST_F(ScalingCommand, TheReadyStudiesAreLegal) {
  int studies = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(MPITRON_SOURCE_DIR "/benchmarks/scaling")) {
    const Finished end = run({"scaling", "run", entry.path(), "--dry-run"});
    EXPECT_EQ(end.code, 0) << end.err;
    ++studies;
  }
  EXPECT_GE(studies, 4);
  const Finished largest =
      run({"scaling", "report", MPITRON_SOURCE_DIR "/benchmarks/scaling/gpt-a100-weak.yaml"});
  EXPECT_EQ(largest.code, 0) << largest.err;
  EXPECT_TRUE(contains(largest.out, "1008.0B")) << largest.out;
}

}  // namespace scaling_test
}  // namespace mpitron::cli
