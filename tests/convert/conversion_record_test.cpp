#include "convert/conversion_record.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mpitron::convert {
namespace conversion_record_test {

TEST(ConversionRecord, SaysWhatWasProven) {
  const ConvertSettings settings{.from = "a", .to = "b", .from_format = {}, .dtype = DType::bf16};
  ConvertReport report{.from_format = Format::hugging_face,
                       .model_type = "llama",
                       .output = "b/release/checkpoint.h5",
                       .ignored = {"x"},
                       .unmapped = {},
                       .notes = {},
                       .round_trip = {},
                       .logits_difference = {}};
  EXPECT_FALSE(nlohmann::json::parse(record_json(settings, report)).contains("verified"));
  report.round_trip = RoundTrip{.tensors = {{"w", {1, 2}, {1, 2}}, {"v", {1, 2}, {1, 3}}}};
  const auto json = nlohmann::json::parse(record_json(settings, report));
  EXPECT_EQ(json["dtype"], "bf16");
  EXPECT_EQ(json["verified"]["equal"], false);
  EXPECT_EQ(json["verified"]["different"], nlohmann::json({"v"}));
  EXPECT_EQ(json["verified"]["xxh3_128"][1]["converted_back"], Hash128({1, 3}).hex());
}

}  // namespace conversion_record_test
}  // namespace mpitron::convert
