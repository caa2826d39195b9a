#include <filesystem>
#include <thread>

#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "data/preprocess/count_words.h"
#include "data/preprocess/progress.h"
#include "tokenizers/bpe/bpe_trainer.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/timer.h"

// `mpitron tokenizer train`: counts the words of a corpus on all cores, then learns byte-level BPE
// merges from the counts. The two files are GPT-2's, and the result depends on the counts alone,
// not on threads or the order of the input.

namespace mpitron::cli {
namespace {

struct TrainOptions {
  std::vector<std::string> inputs;
  std::string json_key = "text";
  std::string output_dir;
  Index vocab_size = 0;
  Index workers = std::max(1U, std::thread::hardware_concurrency());
};

tokenizers::BpeModel train_with_progress(const tokenizers::WordCounts& counts, Index vocab_size) {
  Timer since_line;
  return tokenizers::train_bpe(counts, vocab_size, [&](Index done, Index all) {
    if (since_line.seconds() > 1.0) {
      log::info("train: {} of {} merges ({} %)", done, all, 100 * done / all);
      since_line.restart();
    }
  });
}

int train(const Arguments& arguments) {
  TrainOptions options;
  Flags flags("tokenizer train",
              "Trains a byte-level BPE vocabulary: DIR/vocab.json and DIR/merges.txt.");
  flags.option("--input", options.inputs, "JSONL files, or plain text where the name ends in .txt");
  flags.required();
  flags.option("--vocab-size", options.vocab_size, "tokens, with the 256 bytes and <|endoftext|>");
  flags.required();
  flags.option("--output-dir", options.output_dir,
               "folder of the two files; made if it does not exist");
  flags.required();
  flags.option("--json-key", options.json_key, "key of the text in each JSON object");
  flags.option("--workers", options.workers,
               "threads that count words; the result does not depend on them");
  if (!flags.parse(arguments)) {
    return 0;
  }
  if (options.workers < 1) {
    throw_usage("--workers {}: at least 1 is needed", options.workers);
  }
  tokenizers::check_bpe_size(options.vocab_size);
  make_folder("--output-dir",
              options.output_dir);  // before the work, which would be lost where it cannot be
  const Timer timer;
  const auto counts =
      data::count_words(options.inputs, options.json_key, static_cast<int>(options.workers));
  if (counts.distinct() == 0) {
    throw_data("--input {}: there is no text to learn from", fmt::join(options.inputs, " "));
  }
  log::info("{} distinct words in {:.1f} s", counts.distinct(), timer.seconds());
  const tokenizers::BpeModel model = train_with_progress(counts, options.vocab_size);
  const auto size = static_cast<Index>(model.tokens.size());
  if (size < options.vocab_size) {
    log::warning("no pair occurs twice any more: the vocabulary has {} tokens, not {}", size,
                 options.vocab_size);
  }
  const std::filesystem::path folder = options.output_dir;
  tokenizers::save_bpe_model(model, folder / "vocab.json", folder / "merges.txt");
  log::print(fmt::format("{} tokens, {} merges in {:.1f} s\nwrote {} and {}", size,
                         model.merges.size(), timer.seconds(), (folder / "vocab.json").string(),
                         (folder / "merges.txt").string()));
  return 0;
}

}  // namespace

int tokenizer(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"train", "learn a byte-level BPE vocabulary from texts", train},
  };
  return run_command_of("tokenizer", kCommands, arguments);
}

}  // namespace mpitron::cli
