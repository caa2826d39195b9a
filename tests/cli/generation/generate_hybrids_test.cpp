#include <nlohmann/json.hpp>

#include "cli/command_test.h"

namespace mpitron::cli {
namespace generate_hybrids_test {

using namespace mpitron::test;
using Json = nlohmann::json;

/// Sixteen tokens with the end of the document: each sample is the same document and the first
/// token of the next.
constexpr const char *kDocument = "5 41 17 3 60 22 8 35 50 12 29 47 1 38 19", *kNext = " 63 5";

/// Checkpoints of layers whose options only the parser of runs knows.
class GenerateHybridsTest : public CommandTest {
 protected:
  GenerateHybridsTest() {
    std::string text;
    for (int document = 0; document < 40; ++document) {
      text += std::string("{\"text\": \"") + kDocument + "\"}\n";
    }
    write_bytes((folder_.path() / "ids.jsonl").string(), text);
    EXPECT_EQ(preprocess_ids(folder_, "ids.jsonl", "ids").code, 0);
  }

  Words train(const Words& model, const char* iterations) const {
    Words words = kTinyModel + Words{"--override-opt_param-scheduler",
                                     "--data-path",
                                     "ids_text_document",
                                     "--split",
                                     "1,0,0",
                                     "--eval-iters",
                                     "0",
                                     "--save",
                                     "saved",
                                     "--load",
                                     "saved",
                                     "--train-iters",
                                     iterations,
                                     "--init-method-std",
                                     "0.2",
                                     "--hidden-dropout",
                                     "0",
                                     "--lr",
                                     "2e-3",
                                     "--lr-decay-style",
                                     "constant",
                                     "--attention-dropout",
                                     "0"};
    words.front() = model.front();
    words.insert(words.end(), model.begin() + 1, model.end());
    return words;
  }

  /// The one line that `generate` leaves in its file.
  Json answer(const std::string& prompt, const Words& more) const {
    const Finished end =
        run(Words{"generate", "--load", "saved", "--tokenizer-type", "NullTokenizer",
                  "--vocab-size", "63", "--prompts", prompt, "--inference-max-seq-length", "40",
                  "--return-log-probs", "--output-path", "out.jsonl"} +
            more);
    EXPECT_EQ(end.code, 0) << end.err;
    return Json::parse(read_file(folder_.path() / "out.jsonl"));
  }

  /// The loss of the document is that which training tells next; tokens that come one by one, or by
  /// drafts, have the probabilities of the text in one piece.
  void expect_same_model(const Words& model) const {
    SCOPED_TRACE(model[2]);
    ASSERT_EQ(run(train(model, "3")).code, 0);
    const std::string document = std::string(kDocument) + kNext;
    const Json told = answer(document, {"--num-tokens-to-generate", "1"});
    double loss = 0;
    for (const Json& each : told["prompt_log_probs"]) {
      loss -= each.get<double>() / 16;
    }
    const Json one_by_one = answer("5 41 17", {"--num-tokens-to-generate", "20"});
    const Json drafted =
        answer("5 41 17", {"--num-tokens-to-generate", "20", "--num-speculative-tokens", "3"});
    EXPECT_EQ(drafted["text"], one_by_one["text"]);
    const std::string text = "5 41 17" + one_by_one["text"].get<std::string>();
    const Json whole = answer(text, {"--num-tokens-to-generate", "1"})["prompt_log_probs"];
    const Json& steps = one_by_one["generated_log_probs"];
    ASSERT_GT(whole.size(), 8u);
    for (std::size_t i = 0; i + 2 < whole.size(); ++i) {
      EXPECT_NEAR(steps[i].get<double>(), whole[i + 2].get<double>(), 1e-5) << i;
    }
    EXPECT_NEAR(losses(run(train(model, "4")).out).at(0), loss, 2e-6 * loss);
  }
};

TEST_F(GenerateHybridsTest, LettersOfEveryKind) {
  expect_same_model({"pretrain-mamba",
                     "--hybrid-layer-pattern",
                     "M*EG-",
                     "--num-layers",
                     "5",
                     "--num-experts",
                     "4",
                     "--moe-router-topk",
                     "2",
                     "--mamba-head-dim",
                     "8",
                     "--mamba-num-groups",
                     "2",
                     "--mamba-state-dim",
                     "6",
                     "--linear-num-key-heads",
                     "2",
                     "--linear-num-value-heads",
                     "4",
                     "--linear-key-head-dim",
                     "8",
                     "--linear-value-head-dim",
                     "4",
                     "--swiglu",
                     "--disable-bias-linear",
                     "--normalization",
                     "RMSNorm"});
  write_bytes((folder_.path() / "wiki.txt").string(), kDocument);
  const Finished measured =
      run({"evaluate", "--load", "saved", "--task", "WIKITEXT103", "--valid-data", "wiki.txt",
           "--tokenizer-type", "NullTokenizer", "--vocab-size", "63"});
  EXPECT_TRUE(contains(measured.out, "validation results on WIKITEXT103")) << measured.err;
}

TEST_F(GenerateHybridsTest, WindowsAndSinks) {
  expect_same_model({"pretrain-gpt", "--softmax-type", "learnable", "--window-size", "5,0",
                     "--window-attn-skip-freq", "2", "--attention-output-gate",
                     "--position-embedding-type", "rope", "--quick-geglu", "--glu-linear-offset",
                     "1", "--activation-func-clamp-value", "0.5", "--disable-bias-linear"});
}

}  // namespace generate_hybrids_test
}  // namespace mpitron::cli
