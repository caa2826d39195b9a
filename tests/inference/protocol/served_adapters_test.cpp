#include "inference/protocol/served_adapters.h"

#include <gtest/gtest.h>

#include "inference/protocol/fields.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace served_adapters_test {

std::string refusal(const std::function<void()>& call, int status) {
  try {
    call();
  } catch (const RequestError& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  return "nothing is refused";
}

TEST(ServedAdapters, ComeGoAndAreCounted) {
  Index read = 0;
  ServedAdapters adapters({{.name = "first", .folder = "f", .adapter = nullptr}},
                          [&](const std::string& folder) -> AdapterHandle {
                            if (folder == "absent") {
                              throw_data("absent/adapter_config.json: cannot be read");
                            }
                            ++read;
                            return nullptr;
                          });
  EXPECT_TRUE(adapters.change());
  EXPECT_FALSE(ServedAdapters().change());
  EXPECT_EQ(adapters.load("a/b:1.2-c_d", "folder").folder, "folder");
  EXPECT_EQ(read, 1);
  adapters.take("first");
  adapters.take("nobody");
  EXPECT_EQ(adapters.find("first")->requests, 1);
  EXPECT_EQ(adapters.all().size(), 2u);
  EXPECT_EQ(refusal([&] { adapters.load("first", "x"); }, 400),
            "there is an adapter first already; unload it first");
  EXPECT_EQ(refusal([&] { adapters.load("second", "absent"); }, 400),
            "absent/adapter_config.json: cannot be read");
  EXPECT_NE(refusal([&] { adapters.load("a b", "x"); }, 400).find("letters, digits"),
            std::string::npos);
  EXPECT_EQ(adapters.unload("first").name, "first");
  EXPECT_EQ(refusal([&] { adapters.unload("first"); }, 404), "there is no adapter first");
  EXPECT_FALSE(adapters.find("first"));
  EXPECT_EQ(read, 1);
}

}  // namespace served_adapters_test
}  // namespace mpitron::inference
