#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/routing/information.h"
#include "inference/routing/routes.h"
#include "support/fake_engine.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace openapi_test {

using nlohmann::json;

json document() {
  const tokenizers::NullTokenizer tokenizer(59);
  test::FakeEngine engine({.blocks = 4, .slots = 1, .vocabulary = 60, .padded_vocabulary = 64});
  GenerationService service(engine, tokenizer, {});
  const ServedModel model{.name = "fake",
                          .tokenizer = tokenizer,
                          .shape = engine.shape(),
                          .service = service,
                          .grammars = nullptr,
                          .version = "1"};
  return json::parse(tell_openapi(model, {}).body);
}

TEST(OpenApi, NamesEveryRouteWithItsBody) {
  const json all = document();
  EXPECT_EQ(all.at("openapi"), "3.1.0");
  EXPECT_EQ(all.at("paths").size(), routes().size());
  for (const Route& route : routes()) {
    const std::string method = route.method == std::string("GET")   ? "get"
                               : route.method == std::string("PUT") ? "put"
                                                                    : "post";
    const json& operation = all.at("paths").at(route.path).at(method);
    EXPECT_EQ(operation.contains("requestBody"), route.fields != nullptr) << route.path;
    EXPECT_TRUE(operation.at("responses").contains("200")) << route.path;
    EXPECT_NE(find_route(route.path), nullptr) << route.path;
  }
}

TEST(OpenApi, TellsTypesRangesAndWhatIsRequired) {
  const json paths = document().at("paths");
  const auto schema = [&](const char* path, const char* method) {
    return paths.at(path).at(method).at(
        json::json_pointer("/requestBody/content/application~1json/schema"));
  };
  const json chat = schema("/v1/chat/completions", "post");
  EXPECT_EQ(chat.at("required"), json::array({"messages"}));
  const json n = chat.at("properties").at("n").at("anyOf").at(0);
  EXPECT_EQ(n.at("minimum"), 1);
  EXPECT_EQ(n.at("maximum"), 128);
  EXPECT_FALSE(chat.at("properties").contains("functions"));  // it is refused by name
  EXPECT_EQ(schema("/api", "put").at("properties").at("top_p").at("type"), "number");
  const json error = document().at("components").at("schemas").at("Error");
  EXPECT_EQ(error.at("required"), json::array({"error"}));
}

}  // namespace openapi_test
}  // namespace mpitron::inference
