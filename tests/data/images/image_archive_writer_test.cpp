#include <gtest/gtest.h>

#include "data/images/image_archive.h"
#include "support/corpus.h"
#include "support/drawn_images.h"

namespace mpitron::data {
namespace image_archive_writer_test {

TEST(ImageArchiveWriter, TellsHowFarItIs) {
  const test::TemporaryFolder root;
  for (long i = 0; i < 3; ++i) {
    test::write_file(root / ("in/a/" + std::to_string(i) + ".ppm"), test::drawn_image(0, i));
  }
  std::vector<Index> told;
  write_image_archive(*open_images(root / "in"), root / "x.h5",
                      [&](Index packed) { told.push_back(packed); });
  EXPECT_EQ(told, (std::vector<Index>{1, 2, 3}));
  EXPECT_EQ(ImageArchive(root / "x.h5").size(), 3);
}

/// A list whose images are others when they are read again.
class Changing : public ImageList {
 public:
  explicit Changing(const ImageList& list) : ImageList(list.classes(), {0, 0}), list_(list) {}
  std::string name(Index image) const override { return list_.name(image); }
  EncodedImage read(Index image) const override {
    return list_.read(reads_++ < size() ? image : 1 - image);
  }

 private:
  const ImageList& list_;
  mutable Index reads_ = 0;
};

TEST(ImageArchiveWriter, ImagesThatChangeMeanwhileAreTold) {
  const test::TemporaryFolder root;
  for (long i = 0; i < 2; ++i) {
    test::write_file(root / ("in/a/" + std::to_string(i) + ".ppm"), test::drawn_image(0, i));
  }
  const auto list = open_images(root / "in");
  const std::string message =
      test::message_of([&] { write_image_archive(Changing(*list), root / "x.h5"); });
  EXPECT_NE(message.find("has changed meanwhile"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(root / "x.h5"));
}

}  // namespace image_archive_writer_test
}  // namespace mpitron::data
