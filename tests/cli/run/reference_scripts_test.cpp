#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "cli/sentences.h"
#include "config/parse/parse.h"

// The flags that the scripts under examples/ of Megatron-Core 0.14 pass on, word by word, in
// reference_scripts/: first as they are, then on a model of two layers.

namespace mpitron::cli {
namespace reference_scripts_test {

using namespace mpitron::test;

const std::filesystem::path kScripts = MPITRON_SOURCE_DIR "/tests/cli/run/reference_scripts";

/// What a script passes to the reference, and which rules refuse it there, too.
struct Script {
  std::string command;
  Index ranks = 0;
  Words refused;               // ids; empty: it runs
  std::vector<Words> dropped;  // what the refused flags are, with their values
  Words flags;

  std::string model() const { return command.substr(std::string("pretrain-").size()); }
};

Script read_script(const std::string& name) {
  std::istringstream in(read_file(kScripts / (name + ".txt")));
  Script script;
  for (std::string line; std::getline(in, line);) {
    Words words = config::split_words(line);
    if (words[0] == "command") {
      script.command = words[1];
    } else if (words[0] == "ranks") {
      script.ranks = std::stol(words[1]);
    } else if (words[0] == "refused") {
      script.refused.assign(words.begin() + 1, words.end());
    } else if (words[0] == "drop") {
      script.dropped.emplace_back(words.begin() + 1, words.end());
    } else if (words[0] != "script") {
      script.flags.insert(script.flags.end(), words.begin(), words.end());
    }
  }
  return script;
}

/// Sizes of a model of two layers, for one rank and two steps.
const std::map<std::string, std::string> kSmall = {
    {"--num-layers", "2"},
    {"--encoder-num-layers", "2"},
    {"--decoder-num-layers", "2"},
    {"--hidden-size", "64"},
    {"--ffn-hidden-size", "64"},
    {"--num-attention-heads", "8"},
    {"--num-query-groups", "4"},
    {"--kv-channels", "8"},
    {"--num-experts", "4"},
    {"--seq-length", "32"},
    {"--encoder-seq-length", "32"},
    {"--decoder-seq-length", "24"},
    {"--max-position-embeddings", "32"},
    {"--micro-batch-size", "2"},
    {"--global-batch-size", "4"},
    {"--train-iters", "2"},
    {"--train-samples", "8"},
    {"--lr-decay-iters", "2"},
    {"--lr-decay-samples", "8"},
    {"--lr-warmup-iters", "1"},
    {"--lr-warmup-samples", "2"},
    {"--tensor-model-parallel-size", "1"},
    {"--pipeline-model-parallel-size", "1"},
    {"--expert-model-parallel-size", "1"},
    {"--log-interval", "1"},
    {"--eval-iters", "1"},
    {"--vocab-size", "255"},
    {"--split", "60,20,20"},
    {"--vocab-file", "vocab.txt"},
    {"--merge-file", "bpe/merges.txt"},
    {"--data-path", "corpus_text_document"},
};

/// The script's words with small values; a ramp-up, which the reference refuses beside
/// --train-iters, and chunks of a pipeline, of which one rank has none, are left out.
Words shrunk(const Script& script) {
  Words words;
  std::vector<Words> dropped = script.dropped;
  dropped.push_back({"--rampup-batch-size", "START", "INCREMENT", "SAMPLES"});
  dropped.push_back({"--num-layers-per-virtual-pipeline-stage", "LAYERS"});
  for (std::size_t i = 0; i < script.flags.size(); ++i) {
    const std::string& word = script.flags[i];
    const auto drop = std::ranges::find(dropped, word, [](const Words& flag) { return flag[0]; });
    if (drop != dropped.end()) {
      i += drop->size() - 1;
      continue;
    }
    words.push_back(word);
    if (const auto small = kSmall.find(word); small != kSmall.end()) {
      words.push_back(small->second);
      ++i;
    }
  }
  return words;
}

/// Lines of iterations: in fp16 the first of them tell no loss, their gradients overflow.
std::size_t iterations(const std::string& out) {
  std::size_t count = 0;
  const std::string part = "elapsed time per iteration";
  for (std::size_t at = 0; (at = out.find(part, at)) != std::string::npos; at += part.size()) {
    ++count;
  }
  return count;
}

void set(Words& words, const std::string& option, const std::string& value) {
  const auto found = std::ranges::find(words, option);
  ASSERT_NE(found, words.end()) << option;
  *(found + 1) = value;
}

/// The names of all files of flags.
Words scripts() {
  Words names;
  for (const auto& entry : std::filesystem::directory_iterator(kScripts)) {
    if (entry.path().extension() == ".txt") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

/// Those that differ when they are shrunk: sizes alone need no second run.
Words scripts_to_train() {
  Words names;
  std::set<Words> seen;
  for (const std::string& name : scripts()) {
    const Script script = read_script(name);
    if (seen.insert(Words{script.command} + shrunk(script)).second) {
      names.push_back(name);
    }
  }
  return names;
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '.', '_');
  return name;
}

class ReferenceScript : public ::testing::TestWithParam<std::string> {
 protected:
  Finished run(const Words& words) const { return run_program(folder_.path(), words); }
  void expect_success(const Words& words) const {
    const Finished finished = run(words);
    ASSERT_EQ(finished.code, 0) << finished.err << finished.out;
  }
  /// The corpus that the script reads, by the tokenizer that it names.
  void make_corpus(const Script& script, Words& flags) const {
    write_sentences(folder_, 40);
    const bool sentences = script.model() == "bert" || script.model() == "t5";
    Words tokenizer = {"--tokenizer-type", "BertWordPieceLowerCase", "--vocab-file", "vocab.txt"};
    if (script.model() == "t5") {
      tokenizer[1] = "BertWordPieceCase";
    }
    if (const auto model = std::ranges::find(flags, "--tokenizer-model"); model != flags.end()) {
      *(model + 1) =
          MPITRON_SOURCE_DIR "/tests/golden/tokenizer/families/sp_bpe_llama/tokenizer.model";
      tokenizer = {"--tokenizer-type", *(std::ranges::find(flags, "--tokenizer-type") + 1),
                   "--tokenizer-model", *(model + 1)};
    } else if (!sentences) {
      expect_success({"tokenizer", "train", "--input", "in.jsonl", "--vocab-size", "300",
                      "--output-dir", "bpe"});
      set(flags, "--vocab-file", "bpe/vocab.json");
      tokenizer = {"--tokenizer-type", "GPT2BPETokenizer", "--vocab-file",
                   "bpe/vocab.json",   "--merge-file",     "bpe/merges.txt"};
    }
    Words words = Words{"preprocess", "--input", "in.jsonl", "--output-prefix", "corpus"};
    if (sentences) {
      words.emplace_back("--split-sentences");
      set(flags, "--data-path", "corpus_text_sentence");
    }
    expect_success(words + tokenizer);
  }

  const TemporaryFolder folder_;
};

TEST_P(ReferenceScript, IsAcceptedAsItIs) {
  const Script script = read_script(GetParam());
  const config::ParsedRun parsed = config::with_training_rules(
      config::parse_run(Words{"--model", script.model()} + script.flags, script.ranks));
  Words ids;
  for (const config::Finding& finding : parsed.findings) {
    ids.push_back(finding.id);
  }
  EXPECT_EQ(ids, script.refused) << config::to_text(parsed.findings);
}

class ShrunkScript : public ReferenceScript {};

TEST_P(ShrunkScript, TrainsTwoStepsWithTwoLayersAndGoesOn) {
  const Script script = read_script(GetParam());
  Words flags = shrunk(script);
  if (std::ranges::find(flags, "--data-path") != flags.end()) {
    make_corpus(script, flags);
  }
  if (script.model() == "mamba") {  // eight groups of heads of 64
    set(flags, "--hidden-size", "256");
  }
  const Finished checked = run(Words{"check", "--model", script.model()} + flags);
  EXPECT_EQ(checked.code, 0) << checked.out;
  const Finished first = run(Words{script.command} + flags);
  ASSERT_EQ(first.code, 0) << first.err << first.out;
  EXPECT_EQ(iterations(first.out), 2U);
  const auto has = [&](const char* flag) { return std::ranges::find(flags, flag) != flags.end(); };
  EXPECT_EQ(contains(first.out, "starting from random"), has("--load")) << first.out;
  if (!has("--load") || has("--finetune")) {
    return;  // the next start begins anew
  }
  const bool samples = has("--train-samples");
  set(flags, samples ? "--train-samples" : "--train-iters", samples ? "12" : "3");
  flags.emplace_back("--override-opt_param-scheduler");
  const Finished second = run(Words{script.command} + flags);
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(iterations(second.out), 1U);
}

INSTANTIATE_TEST_SUITE_P(Scripts, ReferenceScript, ::testing::ValuesIn(scripts()), name_of);
INSTANTIATE_TEST_SUITE_P(Scripts, ShrunkScript, ::testing::ValuesIn(scripts_to_train()), name_of);

/// The reference needs a tokenizer's file for it, too.
TEST(ReferenceConfiguration, GptConfigIsReadAsItIs) {
  const std::string file = kScripts / "gpt_config.yaml";
  const config::ParsedRun parsed =
      config::parse_run({"--yaml-cfg", file, "--tokenizer-model", "tokenizer.model"}, 16);
  EXPECT_TRUE(parsed.findings.empty()) << config::to_text(parsed.findings);
  EXPECT_EQ(parsed.run.model.num_layers, 24);
  EXPECT_TRUE(parsed.values.flag("swiglu"));
  EXPECT_TRUE(parsed.values.flag("apply_layernorm_1p"));
  EXPECT_EQ(parsed.run.training.train_samples, 268554688);
}

}  // namespace reference_scripts_test
}  // namespace mpitron::cli
