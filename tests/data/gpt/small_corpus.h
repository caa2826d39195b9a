#pragma once

#include "data/gpt/gpt_dataset.h"
#include "io/tokens/token_file_writer.h"
#include "utils/error.h"

// A corpus of a few documents, and a data set over it.

namespace mpitron::data {

inline GptDatasetOptions small_options(Index sequences) {
  GptDatasetOptions options;
  options.description.num_samples = 5;
  options.description.seq_length = 4;
  options.description.split = "1,0,0";
  options.end = sequences;
  return options;
}

inline std::shared_ptr<const CorpusSource> small_corpus(const std::string& prefix,
                                                        const std::vector<std::int32_t>& lengths) {
  io::TokenFileWriter writer(prefix, io::TokenType::i32);
  std::int32_t token = 0;
  for (const std::int32_t length : lengths) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(length));
    std::generate(tokens.begin(), tokens.end(), [&] { return token++; });
    writer.add_document(tokens, std::vector<std::int32_t>{length});
  }
  writer.commit();
  return std::make_shared<const CorpusSource>(prefix, io::BinAccess::mapped);
}

}  // namespace mpitron::data
