#include "data/images/image_list.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace image_list_test {

TEST(ImageList, AShareHasTheFirstImagesOfTheFirstClasses) {
  const std::vector<Index> labels{2, 0, 1, 0, 0, 1, 2};
  EXPECT_EQ(images_of_share(3, labels, {}).size(), labels.size());
  EXPECT_EQ(images_of_share(3, labels, {.classes = 0.7, .images = 0.7}),
            (std::vector<Index>{1, 2, 3}));
  EXPECT_TRUE(images_of_share(3, labels, {.images = 0.2}).empty());
}

TEST(ImageList, NothingIsFetchedFromANetwork) {
  const std::string message =
      test::message_of([] { open_images("https://example.org/images.tar"); });
  EXPECT_NE(message.find("nothing is fetched from a network"), std::string::npos) << message;
}

}  // namespace image_list_test
}  // namespace mpitron::data
