#include "inference/server/piece_body.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace piece_body_test {

TEST(BodyPieces, GiveTheWholeTextOnce) {
  BodyPieces pieces;
  EXPECT_EQ(pieces.memory(), 0u);
  EXPECT_EQ(pieces.take(), "");
  std::string whole;
  for (std::size_t size = 1; whole.size() < 3 * BodyPieces::kPiece; size = 2 * size + 1) {
    const std::string part(size, static_cast<char>('a' + size % 26));
    pieces.append(part);
    whole += part;
    EXPECT_GE(pieces.memory(), whole.size());
    EXPECT_LT(pieces.memory(), whole.size() + BodyPieces::kPiece);
  }
  EXPECT_EQ(pieces.take(), whole);
  EXPECT_EQ(pieces.memory(), 0u);
}

}  // namespace piece_body_test
}  // namespace mpitron::inference
