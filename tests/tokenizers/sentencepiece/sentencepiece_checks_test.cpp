#include "tokenizers/sentencepiece/sentencepiece_checks.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::tokenizers {
namespace sentencepiece_checks_test {

using PieceType = SentencePieceModel::PieceType;

SentencePieceModel model_of(std::vector<SentencePieceModel::Piece> pieces) {
  SentencePieceModel model;
  model.pieces = std::move(pieces);
  return model;
}

TEST(SentencePieceChecks, IndexPiecesByWhatTheyStandFor) {
  SentencePieceModel model = model_of({{"<unk>", 0, PieceType::unknown},
                                       {"<s>", 0, PieceType::control},
                                       {"a", -1, PieceType::normal}});
  index_pieces(model, {});
  check_model(model);
  EXPECT_EQ(model.unknown, 0);
  EXPECT_EQ(model.bos, 1);
  EXPECT_EQ(model.eos, -1);
  EXPECT_EQ(model.text_ids.at("a"), 2);
}

TEST(SentencePieceChecks, RefuseWhatLaterStepsRelyOn) {
  const auto refused = [](SentencePieceModel model) {
    return test::message_of([&] {
      index_pieces(model, {});
      check_model(model);
    });
  };
  EXPECT_EQ(refused(model_of({})), "it holds no pieces");
  EXPECT_EQ(refused(model_of({{"a"}})), "it holds no piece for unknown text");
  EXPECT_EQ(refused(model_of({{"a"}, {"a"}})), "piece 1 (\"a\") appears twice");
  EXPECT_NE(refused(model_of({{"<0x1>", 0, PieceType::byte}})).find("not of the form"),
            std::string::npos);
}

}  // namespace sentencepiece_checks_test
}  // namespace mpitron::tokenizers
