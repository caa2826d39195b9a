#include "convert/round_trip.h"

#include <gtest/gtest.h>

#include "convert/formats/hugging_face_folder.h"
#include "convert/tiny_models.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace round_trip_test {

void ignore_progress(Index, Index, const std::string&) {}

TEST(RoundTrip, NamesWhatCameBackDifferent) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path() / "a", "llama");
  test::write_hugging_face_folder(folder.path() / "b", "llama");
  std::string text = read_file(folder.path() / "b/model.safetensors");
  text.back() = static_cast<char>(text.back() ^ 1);  // of the last tensor in the file
  test::write_text(folder.path() / "b/model.safetensors", text);
  const ModelReader::Settings settings{.format = Format::hugging_face};
  ModelReader a(folder.path() / "a", settings), same(folder.path() / "a", settings),
      b(folder.path() / "b", settings);
  const RoundTrip good = check_round_trip(a, same, ignore_progress);
  EXPECT_EQ(good.tensors.size(), 21u);
  EXPECT_TRUE(good.different().empty());
  EXPECT_EQ(good.bytes, a.stored().bytes());
  EXPECT_EQ(check_round_trip(a, b, ignore_progress).different(),
            (std::vector<std::string>{"lm_head.weight"}));
}

}  // namespace round_trip_test
}  // namespace mpitron::convert
