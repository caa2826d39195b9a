#pragma once
#include "cli/tiny_run.h"

// Corpora of sentences, and tiny encoders that train on them.

namespace mpitron::test {

/// A vocabulary of 32 pieces, `vocab.txt`, and `documents` of six sentences each as `in.jsonl`.
inline void write_sentences(const TemporaryFolder& folder, int documents) {
  const Words words = {"the", "cat", "dog",  "sat",  "on",   "mat", "ran", "to",   "house",
                       "a",   "red", "blue", "bird", "tree", "saw", "old", "very", "slowly"};
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n##s\n.\n";
  for (const std::string& word : words) {
    vocabulary += word + "\n";
  }
  write_bytes(folder / "vocab.txt", vocabulary);
  std::string text;
  for (int document = 0; document < documents; ++document) {
    text += "{\"text\": \"";
    for (int sentence = 0; sentence < 6; ++sentence) {
      text += "The";
      for (int i = 0; i < 4 + (document + sentence) % 4; ++i) {
        const auto at = static_cast<std::size_t>(7 * document + 3 * sentence + 5 * i + i * i);
        text += " " + words[at % words.size()] + (i == 2 ? "s" : "");
      }
      text += sentence < 5 ? ". " : ".";
    }
    text += "\"}\n";
  }
  write_bytes(folder / "in.jsonl", text);
}

inline const Words kWordPieces = {"--tokenizer-type", "BertWordPieceLowerCase", "--vocab-file",
                                  "vocab.txt"};

/// The corpus `corpus_text_sentence`, or without the split `corpus_text_document`.
inline Finished preprocess_sentences(const TemporaryFolder& folder, bool split = true) {
  Words words =
      Words{"preprocess", "--input", "in.jsonl", "--output-prefix", "corpus"} + kWordPieces;
  if (split) {
    words.emplace_back("--split-sentences");
  }
  return run_program(folder.path(), words);
}

/// A run of 4 iterations of `pretrain-bert` or `pretrain-t5`, but for the corpus.
inline Words tiny_encoder(const std::string& command) {
  Words words = kTinyModel + kWordPieces + Words{"--train-iters", "4", "--split", "90,10,0"};
  words.front() = command;
  for (const char* of_others : {"--seq-length", "--max-position-embeddings"}) {
    *(std::ranges::find(words, of_others) + 1) = "32";
  }
  return words;
}

}  // namespace mpitron::test
