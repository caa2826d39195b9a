#include "cli/commands.h"

#include <array>

// The table of `mpitron --help`, and the commands that only have commands of their own. A new
// command is a row here, a declaration in commands.h and a file.

namespace mpitron::cli {

std::span<const Command> commands() {
  static constexpr std::array kCommands{
      Command{"pretrain-gpt", "train a GPT with Megatron-LM's flags", pretrain_gpt},
      Command{"pretrain-bert", "train a BERT on files of sentences", pretrain_bert},
      Command{"pretrain-t5", "train a T5 on files of sentences", pretrain_t5},
      Command{"pretrain-vision-classify", "train a ViT on folders of images, one for each class",
              pretrain_vision_classify},
      Command{"pretrain-vision-inpaint", "train a ViT to paint what is behind a mask",
              pretrain_vision_inpaint},
      Command{"pretrain-vision-dino", "train a ViT without labels, by a teacher that follows it",
              pretrain_vision_dino},
      Command{"pretrain-vlm", "train a GPT that sees images on texts with images", pretrain_vlm},
      Command{"pretrain-mamba", "train a Mamba, or a hybrid by a pattern of layers",
              pretrain_mamba},
      Command{"finetune", "teach a BERT or GPT a task of labelled texts (GLUE, RACE)", finetune},
      Command{"evaluate", "measure perplexity (WikiText) or LAMBADA accuracy of a decoder",
              evaluate},
      Command{"preprocess", "tokenise JSONL or plain text into .bin and .idx files", preprocess},
      Command{"merge-datasets", "write the corpora of a folder as one", merge_datasets},
      Command{"dataset", "inspect or convert a tokenised corpus; pack images", dataset},
      Command{"clean", "filter and repair a corpus of web texts", clean},
      Command{"dedup", "leave out near-duplicates of a corpus", dedup},
      Command{"tokenizer", "train a byte-level BPE vocabulary", tokenizer},
      Command{"tokenize", "encode, decode or count texts", tokenize},
      Command{"data", "tell what a run reads: shares of its corpora, documents of an iteration",
              data},
      Command{"convert", "convert models from and to Hugging Face and from Megatron", convert},
      Command{"adapter", "write the low-rank updates of a checkpoint for Hugging Face's PEFT",
              adapter},
      Command{"serve", "answer requests over HTTP with a model", serve},
      Command{"ask", "ask a running server, and print its answer as it comes", ask},
      Command{"chat", "talk to a model in the terminal", chat},
      Command{"embed", "write a vector of each document, as a BERT sees it", embed},
      Command{"generate", "continue texts with a model", generate},
      Command{"replay", "replay a recorded run of the reference and compare", replay},
      Command{"parity", "prove that a layout computes what one rank computes", parity},
      Command{"plan", "show how a run lies on its ranks, without starting it", plan},
      Command{"inspect", "show what a checkpoint holds, or how two differ", inspect},
      Command{"verify", "check that every byte of a checkpoint is as it was written", verify},
      Command{"trace", "join the traces of --profile, and tell where the time went", trace},
      Command{"report", "write a page with the curves of one or several runs", report},
      Command{"status", "show how far a run is, its loss and its slow ranks", status},
      Command{"scaling", "run a scaling study and report it", scaling},
      Command{"io-bench", "measure how fast a folder takes checkpoints", io_bench},
      Command{"doctor", "look for what is broken on the machines of a job, and say what to do",
              doctor},
      Command{"job", "write the batch script of a run", job},
      Command{"check", "check the options of a training run without starting it", check},
      Command{"config", "show every option with its value and where it comes from", configuration},
      Command{"explain", "explain a rule (E017) or an option (--num-layers)", explain},
      Command{"options", "list all options", options},
      Command{"manual", "write manual pages and the completion of shells", manual},
      Command{"version", "print the version and the build fingerprint", version},
  };
  return kCommands;
}

int data(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"report", "tokens, epochs and samples that a run takes from each corpus", data_report},
      {"trace", "the documents of an iteration, or the iterations of a document", data_trace},
  };
  return run_command_of("data", kCommands, arguments);
}

int dataset(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"inspect", "show what a corpus holds, or one of its documents", dataset_inspect},
      {"images", "pack, inspect and check images for training", dataset_images},
      {"convert", "turn .bin and .idx into one .h5 file, or back", dataset_convert},
  };
  return run_command_of("dataset", kCommands, arguments);
}

int job(const Arguments& arguments) {
  static constexpr std::array kCommands{
      Command{"write", "write the sbatch script of a training run", job_write},
  };
  return run_command_of("job", kCommands, arguments);
}

}  // namespace mpitron::cli
