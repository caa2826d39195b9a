#include "inference/routing/routes.h"

#include <set>

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace routes_test {

TEST(Routes, AreFoundByTheirTargets) {
  EXPECT_EQ(find_route("/v1/models")->tell, find_route("/models")->tell);
  EXPECT_EQ(find_route("/v1/models/a/b")->path, std::string("/v1/models/{id}"));
  for (const char* absent : {"", "/v1/models/", "/v1", "/completions/", "/API"}) {
    EXPECT_EQ(find_route(absent), nullptr) << absent;
  }
}

TEST(Routes, AnswerAtOnceOrWithTheModel) {
  std::set<std::string> paths;
  for (const Route& route : routes()) {
    EXPECT_TRUE(paths.insert(route.path).second) << route.path;
    EXPECT_EQ(route.protocol == Protocol::none, route.tell != nullptr) << route.path;
    EXPECT_EQ(route.fields != nullptr, route.method != std::string("GET")) << route.path;
  }
}

}  // namespace routes_test
}  // namespace mpitron::inference
