#include <random>

#include <gtest/gtest.h>

#include "tokenizers/bpe/byte_pair_encoding.h"
#include "tokenizers/golden_tokenizer.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace byte_pair_merging_test {

// Plain BPE as the paper writes it: the lowest-ranked pair anywhere, leftmost first, until none is
// left.
TokenIds merge_naively(const BpeModel& model, std::string_view piece) {
  TokenIds ids;
  for (const char c : piece) {
    ids.push_back(model.byte_ids[static_cast<unsigned char>(c)]);
  }
  for (const BpeModel::Merge& merge : model.merges) {
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      if (ids[i] == merge.left && ids[i + 1] == merge.right) {
        ids[i] = merge.result;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  return ids;
}

TEST(BytePairMerging, ShortAndLongPiecesEqualTheNaiveAlgorithm) {
  const BpeModel model = load_bpe_model(golden_tokenizer_dir() / "gpt2/vocab.json",
                                        golden_tokenizer_dir() / "gpt2/merges.txt");
  std::mt19937_64 random(13);
  for (int i = 0; i < 40; ++i) {
    std::string piece;
    for (std::size_t n = 1 + random() % 130; n > 0; --n) {
      piece += "etaoinshrdlu"[random() % 12];
    }
    TokenIds ids;
    gpt2_tokenizer().merge(piece, ids);
    ASSERT_EQ(ids, merge_naively(model, piece)) << piece;
  }
}

TEST(BytePairMerging, VeryLongPiecesTakeNoQuadraticTime) {
  const std::string text(4'000'000, 'a');
  EXPECT_EQ(gpt2_tokenizer().decode(gpt2_tokenizer().encode(text)), text);
}

}  // namespace byte_pair_merging_test

}  // namespace mpitron::tokenizers
