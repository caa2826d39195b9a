#include <gtest/gtest.h>

#include "cli/tiny_run.h"

namespace mpitron::test {
namespace evaluate_test {

Finished evaluate(const TemporaryFolder& folder, const Words& words) {
  return run_program(folder.path(), Words{"evaluate"} + words);
}

TEST(Evaluate, MeasuresASavedModel) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(folder.path(), kTinyMock + kSixteenPositions + Words{"--save", "run"}).code,
            0);
  write_bytes(folder.path().string() + "/lambada.jsonl",
              "{\"text\": \"1 2 3\"}\n{\"text\": \"4 5 6 7\"}\n");
  write_bytes(folder.path().string() + "/wiki.txt",
              "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20");
  const Words model = {
      "--load",       "run", "--use-checkpoint-args", "--tokenizer-type", "NullTokenizer",
      "--vocab-size", "63",  "--output-path",         "result.json",      "--valid-data"};
  const Finished last = evaluate(folder, model + Words{"lambada.jsonl", "--task", "LAMBADA"});
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_TRUE(contains(last.out, "| total examples: 2.0000E+00 |")) << last.out;
  const Finished cached = evaluate(
      folder, model + Words{"lambada.jsonl", "--task", "LAMBADA", "--kv-cache-dtype", "bf16"});
  EXPECT_EQ(cached.code, 2) << cached.out;
  EXPECT_TRUE(contains(cached.err,
                       "--kv-cache-dtype bf16: --task LAMBADA scores texts by whole "
                       "passes, without a cache; leave it out"))
      << cached.err;
  const Finished text = evaluate(folder, model + Words{"wiki.txt", "--task", "WIKITEXT103"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "validation results on WIKITEXT103 | avg loss: ")) << text.out;
  EXPECT_TRUE(contains(std::string(MappedFile(folder.path().string() + "/result.json").text()),
                       "\"targets\": 19, \"windows\": 2,"));
}

TEST(Evaluate, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  const Finished task = evaluate(folder, {"--task", "SQUAD", "--valid-data", "wiki.txt"});
  EXPECT_EQ(task.code, 2);
  EXPECT_TRUE(contains(task.err, "allowed: WIKITEXT103, PTB, LAMBADA, or a file")) << task.err;
  EXPECT_TRUE(contains(evaluate(folder, {"--task", "LAMBADA"}).err, "--valid-data is missing"));
  EXPECT_TRUE(contains(evaluate(folder, {"--kv-cache-dtype", "fp8_e5m2"}).err,
                       "--kv-cache-dtype: fp8_e5m2 is none of auto, bf16, fp8_e4m3; did you mean "
                       "fp8_e4m3?"));
  EXPECT_TRUE(
      contains(evaluate(folder, {"--task", "LAMBADA", "--valid-data", "a"}).err, "--load is"));
}

}  // namespace evaluate_test
}  // namespace mpitron::test
