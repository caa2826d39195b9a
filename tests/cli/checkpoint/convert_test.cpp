#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/command_test.h"
#include "convert/tiny_models.h"
#include "io/arrays/peft_folder.h"
#include "support/program.h"

// A run with low-rank updates from the first to the last of its files.
namespace mpitron::cli {

namespace convert_test {

using namespace mpitron::test;
using mpitron::test::convert_data;

std::string megatron(const char* name) {
  return convert_data("megatron") / name;
}

TEST(Convert, GoesThereAndBackByCommands) {
  const TemporaryFolder folder;
  mpitron::test::write_hugging_face_folder(folder / "in", "mistral");
  const Finished there =
      run_program(folder.path(), {"convert", "--from", "in", "--to", "ours", "--verify-logits"});
  EXPECT_EQ(there.code, 0) << there.err;
  EXPECT_TRUE(contains(there.out, "21 of 21 tensors are the same")) << there.out;
  EXPECT_TRUE(contains(there.out, "logits differ by 0")) << there.out;
  const Finished back = run_program(
      folder.path(), {"convert", "--from", "ours", "--to", "out", "--verify", "--json"});
  EXPECT_EQ(back.code, 0) << back.err;
  const auto json = nlohmann::json::parse(back.out);
  EXPECT_EQ(json["verified"]["equal"], true);
  EXPECT_EQ(json["model_type"], "mistral");
  EXPECT_EQ(json, nlohmann::json::parse(read_file(folder / "out/conversion_record.json")));
}

TEST(Convert, TakesTheFormOfMegatronsTool) {
  const TemporaryFolder folder;
  const Finished good =
      run_program(folder.path(),
                  {"convert", "--model-type", "GPT", "--loader", "core", "--saver", "core",
                   "--load-dir", megatron("dist"), "--save-dir", "out",
                   "--target-tensor-parallel-size", "2", "--target-pipeline-parallel-size", "4"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_TRUE(contains(good.out, "has no layout")) << good.out;
  EXPECT_EQ(read_file(folder / "out/latest_checkpointed_iteration.txt"), "7");
  EXPECT_FALSE(std::filesystem::exists(folder / "EXECUTED"));
  const Finished again =
      run_program(folder.path(), {"convert", "--model-type", "GPT", "--load-dir", "out",
                                  "--save-dir", "relaid", "--target-tensor-parallel-size", "2"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "--load of the source resumes in every layout")) << again.out;
  EXPECT_TRUE(std::filesystem::exists(folder / "relaid/iter_0000007/checkpoint.h5")) << again.out;
  const Finished bad =
      run_program(folder.path(), {"convert", "--load-dir", megatron("dist"), "--save-dir", "other",
                                  "--target-pipeline-parallel-size", "3"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, "num_layers is 4")) << bad.err;
}

TEST(Convert, TellsMistakesInOneSentence) {
  const TemporaryFolder folder;
  const std::pair<std::vector<std::string>, const char*> mistakes[] = {
      {{}, "--from and --to are needed"},
      {{"--from", "absent", "--to", "x"}, "absent"},
      {{"--from", megatron("torch"), "--to", "x", "--dtype", "fp64"}, "fp64"},
      {{"--from", megatron("torch"), "--to", "x", "--to-format", "megatron-torch"},
       "only mpitron and huggingface"},
      {{"--from", megatron("torch"), "--to", "x", "--to-format", "huggingface", "--model-type",
        "gpt2"},
       "--position-embedding-type learned_absolute"},
      {{"--from", megatron("torch"), "--to", "/proc/none"}, "/proc/none"},
  };
  for (const auto& [words, expected] : mistakes) {
    std::vector<std::string> arguments{"convert"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Finished finished = run_program(folder.path(), arguments);
    EXPECT_GT(finished.code, 1) << expected;
    EXPECT_LT(finished.code, 10) << expected;
    EXPECT_TRUE(contains(finished.err, expected)) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "x/latest_checkpointed_iteration.txt"));
  }
}

TEST(Convert, LeavesNoHalfCheckpointOnAFullDisk) {
  const TemporaryFolder folder;
  const Finished finished =
      run_program(folder.path(), {"convert", "--from", megatron("torch"), "--to", "x"},
                  {.largest_file = 12'000});
  EXPECT_EQ(finished.code, 4) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "x/iter_0000005"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x/latest_checkpointed_iteration.txt"));
}

const Words kLlama = kTinyMock + Words{"--disable-bias-linear",
                                       "--swiglu",
                                       "--normalization",
                                       "RMSNorm",
                                       "--position-embedding-type",
                                       "rope",
                                       "--untie-embeddings-and-output-weights",
                                       "--make-vocab-size-divisible-by",
                                       "1",
                                       "--attention-dropout",
                                       "0",
                                       "--hidden-dropout",
                                       "0"};
const Words kUpdates = {"--lora-rank",    "2",   "--lora-alpha",          "8",
                        "--lora-dropout", "0.1", "--lora-target-modules", "q_proj,v_proj,down_proj",
                        "--lr",           "0.05"};

class Adapter : public CommandTest {
 protected:
  void SetUp() override { ASSERT_EQ(run(kLlama + Words{"--save", "base"}).code, 0); }
  Words tuned(const Words& more) const {
    return kLlama + Words{"--pretrained-checkpoint", "base"} + more;
  }
  std::string bytes(const std::string& name) const {
    return std::string(MappedFile(folder_ / name).text());
  }
  /// An adapter that a run takes up and adds nothing to has the same bytes behind it.
  void expect_comes_back(const Words& flags, const std::string& adapter) {
    const Finished again = run(flags + Words{"--load-adapter", adapter, "--save", "again", "--lr",
                                             "0", "--min-lr", "0", "--weight-decay", "0"});
    ASSERT_EQ(again.code, 0) << again.err;
    ASSERT_EQ(run({"adapter", "--load", "again", "--output", "again_peft"}).code, 0);
    EXPECT_EQ(bytes("again_peft/adapter_model.safetensors"),
              bytes(adapter + "/adapter_model.safetensors"));
  }
};

TEST_F(Adapter, IsTrainedResumedExportedAndTakenUp) {
  const Finished whole = run(tuned(kUpdates + Words{"--save", "whole"}));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Words parts = kUpdates + Words{"--save", "parts", "--load", "parts"};
  ASSERT_EQ(run(tuned(parts + Words{"--exit-interval", "2"})).code, 0);
  const Finished rest = run(tuned(parts));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(result_lines(rest.out).front(), result_lines(whole.out)[2]);  // iteration 3
  for (const char* name : {"whole", "parts"}) {
    const Finished end = run({"adapter", "--load", name, "--output", std::string(name) + "_peft"});
    ASSERT_EQ(end.code, 0) << end.err;
  }
  EXPECT_EQ(bytes("whole_peft/adapter_model.safetensors"),
            bytes("parts_peft/adapter_model.safetensors"));
  const io::PeftFolder folder(folder_ / "whole_peft");
  EXPECT_EQ(folder.modules().size(), 6U);
  EXPECT_EQ(folder.config().alpha, 8);
  expect_comes_back(tuned({}), "whole_peft");
  const Finished merged =
      run({"convert", "--from", "base", "--to", "merged", "--to-format", "huggingface",
           "--model-type", "llama", "--merge-adapter", "whole_peft"});
  EXPECT_EQ(merged.code, 0) << merged.err;
  const Words generate = {"generate",
                          "--tokenizer-type",
                          "NullTokenizer",
                          "--vocab-size",
                          "63",
                          "--num-tokens-to-generate",
                          "8",
                          "--load"};
  const Words prompt = {"--prompts", "1 2 3"}, own = {"--adapter", "own=whole_peft"};
  const Finished adapted = run(generate + Words{"base"} + own + prompt);
  EXPECT_EQ(adapted.code, 0) << adapted.err;
  EXPECT_EQ(adapted.out, run(generate + Words{"merged"} + prompt).out);
  const Finished plain = run(generate + Words{"base"} + prompt);
  EXPECT_NE(adapted.out, plain.out);
  const auto prompt_file = [&](const std::vector<std::string>& adapters) {
    std::ofstream file(folder_ / "prompts.jsonl");
    for (const std::string& name : adapters) {
      file << fmt::format(R"({{"text": "1 2 3", "adapter": "{}"}})", name) << '\n';
    }
    return Words{"--prompt-file", "prompts.jsonl"};
  };
  const Words several = generate + Words{"base"} + own + Words{"other=parts_peft"};
  const Finished each = run(several + prompt_file({"own", "base"}));
  EXPECT_EQ(each.out, adapted.out + plain.out) << each.err;
  expect_refused(several + prompt, 2, "2 are given, and an answer has one");
  expect_refused(several + prompt_file({"theirs"}), 2,
                 "there is no adapter theirs; there is base, own, other");
}

/// Its MLPs and shared experts have names of their own, by which it goes and comes back.
TEST_F(Adapter, OfALlama4HasItsNames) {
  const Words llama4 = kLlama + Words{"--seq-length",
                                      "32",
                                      "--max-position-embeddings",
                                      "32",
                                      "--rotary-interleaved",
                                      "--num-experts",
                                      "2",
                                      "--moe-layer-freq",
                                      "[0,1]",
                                      "--moe-shared-expert-intermediate-size",
                                      "32",
                                      "--moe-ffn-hidden-size",
                                      "32",
                                      "--disable-bias-linear",
                                      "--moe-router-score-function",
                                      "sigmoid",
                                      "--moe-router-topk",
                                      "1",
                                      "--moe-apply-probs-on-input",
                                      "--attention-chunk-size",
                                      "16"};
  ASSERT_EQ(run(llama4 + Words{"--save", "long"}).code, 0);
  const Words tune = llama4 + Words{"--pretrained-checkpoint", "long", "--lr", "0.05"};
  const Finished tuned_one = run(tune + kUpdates + Words{"--lora-dropout", "0", "--save", "tuned"});
  ASSERT_EQ(tuned_one.code, 0) << tuned_one.err;
  ASSERT_EQ(run({"adapter", "--load", "tuned", "--output", "tuned_peft"}).code, 0);
  const io::PeftFolder folder(folder_ / "tuned_peft");
  const std::vector<std::string> modules = folder.modules();
  for (const char* name :
       {"model.layers.0.feed_forward.down_proj", "model.layers.1.feed_forward.experts.1.down_proj",
        "model.layers.1.feed_forward.shared_expert.down_proj"}) {
    EXPECT_EQ(std::ranges::count(modules, name), 1) << name;
  }
  expect_comes_back(tune, "tuned_peft");
  const Finished merged =
      run({"convert", "--from", "long", "--to", "merged", "--to-format", "huggingface",
           "--model-type", "llama4_text", "--merge-adapter", "tuned_peft"});
  EXPECT_EQ(merged.code, 0) << merged.err;
  const Words generate = {"generate",
                          "--tokenizer-type",
                          "NullTokenizer",
                          "--vocab-size",
                          "63",
                          "--num-tokens-to-generate",
                          "24",
                          "--prompts",
                          "1 2 3",
                          "--load"};
  const Finished adapted = run(generate + Words{"long", "--adapter", "own=tuned_peft"});
  EXPECT_EQ(adapted.code, 0) << adapted.err;
  EXPECT_EQ(adapted.out, run(generate + Words{"merged"}).out);
  expect_refused(generate + Words{"long", "--inference-dynamic-batching-block-size", "32"}, 2,
                 "the chunks of 16 positions within which the model attends; give 16 or less");
}

TEST_F(Adapter, OfAnotherModelIsRefused) {
  ASSERT_EQ(run(tuned(kUpdates + Words{"--save", "updates"})).code, 0);
  ASSERT_EQ(run(kLlama + Words{"--seed", "7", "--save", "other"}).code, 0);
  expect_refused(kLlama + kUpdates + Words{"--pretrained-checkpoint", "other", "--load", "updates"},
                 4, "updates of other weights");
  expect_refused(kLlama + kUpdates, 2, "--pretrained-checkpoint is missing");
  expect_refused({"adapter", "--load", "base", "--output", "x"}, 4, "holds no low-rank updates");
  ASSERT_EQ(run({"adapter", "--load", "updates", "--output", "peft"}).code, 0);
  expect_refused(tuned({"--load-adapter", "peft", "--num-layers", "1"}), 4, "does not fit");
  const Words wide = {"--ffn-hidden-size", "40", "--save", "wide"};
  ASSERT_EQ(run(kLlama + wide).code, 0);
  expect_refused(kLlama + Words{"--ffn-hidden-size", "40", "--pretrained-checkpoint", "wide",
                                "--load-adapter", "peft"},
                 4, "is for another model");
}

}  // namespace convert_test

}  // namespace mpitron::cli
