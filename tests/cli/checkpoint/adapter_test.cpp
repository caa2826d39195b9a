#include <filesystem>

#include "cli/command_test.h"
#include "io/arrays/peft_folder.h"

// A run with low-rank updates from the first to the last of its files.

namespace mpitron::test {
namespace adapter_test {

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
  // An adapter that nothing is added to comes back as it was.
  const Finished again = run(tuned({"--load-adapter", "whole_peft", "--save", "again", "--lr", "0",
                                    "--min-lr", "0", "--weight-decay", "0"}));
  ASSERT_EQ(again.code, 0) << again.err;
  ASSERT_EQ(run({"adapter", "--load", "again", "--output", "again_peft"}).code, 0);
  EXPECT_EQ(bytes("again_peft/adapter_model.safetensors"),
            bytes("whole_peft/adapter_model.safetensors"));
  const Finished merged =
      run({"convert", "--from", "base", "--to", "merged", "--to-format", "huggingface",
           "--model-type", "llama", "--merge-adapter", "whole_peft"});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "merged" / "model.safetensors"));
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

}  // namespace adapter_test
}  // namespace mpitron::test
