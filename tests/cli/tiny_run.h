#pragma once
#include <string>
#include <vector>

#include "support/program.h"

// Runs of `mpitron pretrain-gpt` on a model of 30 000 parameters: 0.4 s each without optimisation.

namespace mpitron::test {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline const Words kTinyModel = {"pretrain-gpt",
                                 "--num-layers",
                                 "2",
                                 "--hidden-size",
                                 "32",
                                 "--num-attention-heads",
                                 "4",
                                 "--seq-length",
                                 "16",
                                 "--max-position-embeddings",
                                 "16",
                                 "--micro-batch-size",
                                 "2",
                                 "--global-batch-size",
                                 "4",
                                 "--lr",
                                 "1e-3",
                                 "--log-interval",
                                 "1",
                                 "--eval-iters",
                                 "1",
                                 "--tokenizer-type",
                                 "NullTokenizer",
                                 "--vocab-size",
                                 "63"};
/// Made-up data are 2e8 tokens, which long sequences cut, and shuffle, in a fraction of the time.
inline const Words kTinyMock =
    kTinyModel + Words{"--mock-data",  "--train-iters", "4",
                       "--seq-length", "128",           "--max-position-embeddings",
                       "128"};
inline const Words kSixteenPositions = {"--seq-length", "16", "--max-position-embeddings", "16"};

/// What two runs must have in common: everything behind the time of an iteration line, and the
/// losses of validation and test.
inline Words result_lines(const std::string& out) {
  Words lines;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) {
    if (const auto at = line.find("| learning rate:"); at != std::string::npos) {
      lines.push_back(line.substr(at));
    } else if (line.find("lm loss value") != std::string::npos) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// The losses of the iteration lines, as printed.
inline std::vector<double> losses(const std::string& out) {
  std::vector<double> result;
  const std::string name = "lm loss: ";
  for (auto at = out.find(name); at != std::string::npos; at = out.find(name, at + 1)) {
    result.push_back(std::stod(out.substr(at + name.size())));
  }
  return result;
}

/// The folder's JSONL file of `documents` of `length` ids, for the NullTokenizer of 63 ids.
inline void write_ids(const std::string& path, int documents, int length) {
  std::string text;
  for (int d = 0; d < documents; ++d) {
    text += "{\"text\": \"";
    for (int i = 0; i < length; ++i) {
      text += std::to_string((7 * d + 3 * i) % 63) + (i + 1 < length ? " " : "");
    }
    text += "\"}\n";
  }
  write_bytes(path, text);
}

/// `mpitron preprocess` of such a file: prefix `folder`/`name`_text_document.
inline Words preprocess_words(const std::string& input, const std::string& name) {
  return {"preprocess",    "--input",      input, "--output-prefix", name, "--tokenizer-type",
          "NullTokenizer", "--vocab-size", "63",  "--append-eod"};
}
inline Finished preprocess_ids(const TemporaryFolder& folder, const std::string& input,
                               const std::string& name, const Words& more = {},
                               const ProgramEnvironment& environment = {}) {
  return run_program(folder.path(), preprocess_words(input, name) + more, environment);
}

}  // namespace mpitron::test
