#include "inference/routing/router.h"

#include <future>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/fake_engine.h"
#include "support/host_runtime.h"
#include "tokenizers/core/null_tokenizer.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace router_test {

using nlohmann::json;

/// A client that waits for its reply.
class Client : public HttpAnswer {
 public:
  void send(HttpReply reply) override { reply_.set_value(std::move(reply)); }
  void begin_events() override {}
  void event(std::string_view /*data*/) override {}
  void end_events() override {}
  void on_leave(std::function<void()> /*call*/) override {}
  HttpReply wait() { return reply_.get_future().get(); }

 private:
  std::promise<HttpReply> reply_;
};

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    model_.adapters = std::make_shared<ServedAdapters>(
        std::vector<ServedAdapter>{{.name = "one", .folder = "f", .adapter = adapter()}},
        [this](const std::string& folder) {
          if (folder == "other") {
            throw_data("other: is for another model:\n  model.layers.0.q_proj.lora_A.weight is ..");
          }
          return adapter();
        });
  }
  AdapterHandle adapter() {
    return std::make_shared<autograd::Adapter>(*device_, DType::f32, ++number_, nullptr,
                                               std::map<std::string, autograd::Adapter::Factors>());
  }
  HttpReply send(const std::string& method, const std::string& target, const std::string& body) {
    const auto client = std::make_shared<Client>();
    router_.answer({.method = method, .target = target, .authorization = {}, .body = body}, client);
    return client->wait();
  }
  json post(const std::string& target, const std::string& body, int status = 200) {
    const HttpReply reply = send("POST", target, body);
    EXPECT_EQ(reply.status, status) << reply.body;
    return json::parse(reply.body);
  }
  json complete(const std::string& model, int status = 200) {
    return post("/v1/completions",
                R"({"prompt": "1 2 3 4 5 6 7 8 9", "max_tokens": 4, "temperature": 0, "model": ")" +
                    model + "\"}",
                status);
  }
  static std::string text(const json& reply) {
    return reply.at("choices").at(0).at("text").get<std::string>();
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
  Index number_ = 0;
  tokenizers::NullTokenizer tokenizer_{59};
  test::FakeEngine engine_{{.block_size = 4,
                            .blocks = 64,
                            .slots = 4,
                            .max_positions = 40,
                            .vocabulary = 60,
                            .padded_vocabulary = 64}};
  GenerationService service_{engine_, tokenizer_, {}};
  ServedModel model_{.name = "base",
                     .tokenizer = tokenizer_,
                     .shape = engine_.shape(),
                     .service = service_,
                     .grammars = nullptr,
                     .version = "1"};
  Router router_{model_, ""};
};

TEST_F(RouterTest, RequestsChooseAdaptersByName) {
  const json base = complete("base"), one = complete("one");
  EXPECT_EQ(one.at("model"), "one");
  EXPECT_NE(text(one), text(base));
  EXPECT_EQ(text(complete("")), text(base));
  EXPECT_EQ(one.at("usage").at("prompt_tokens_details").at("cached_tokens"), 0);
  EXPECT_EQ(complete("one").at("usage").at("prompt_tokens_details").at("cached_tokens"), 8);
  EXPECT_EQ(complete("two", 404).at("error").at("message"),
            "the model two does not exist; there is base, one");
  const json models = json::parse(send("GET", "/v1/models", "").body).at("data");
  EXPECT_TRUE(models.at(0).at("parent").is_null());
  EXPECT_EQ(models.at(1).at("parent"), "base");
  EXPECT_EQ(json::parse(send("GET", "/v1/models/one", "").body), models.at(1));
  const std::string metrics = send("GET", "/metrics", "").body;
  EXPECT_NE(metrics.find("mpitron_adapters 1\n"), std::string::npos);
  EXPECT_NE(metrics.find("mpitron_adapter_requests_total{adapter=\"one\"} 2\n"), std::string::npos);
}

TEST_F(RouterTest, AdaptersComeAndGo) {
  const auto load = [&](const std::string& name, const std::string& folder, int status) {
    return post("/v1/load_lora_adapter",
                R"({"lora_name": ")" + name + R"(", "lora_path": ")" + folder + "\"}", status);
  };
  EXPECT_EQ(load("two", "g", 200).at("root"), "g");
  EXPECT_NE(text(complete("two")), text(complete("one")));
  EXPECT_EQ(load("base", "g", 400).at("error").at("message"),
            "base is the name of the model itself");
  EXPECT_EQ(load("two", "g", 400).at("error").at("param"), "lora_name");
  EXPECT_EQ(load("three", "other", 400).at("error").at("param"), "lora_path");
  post("/v1/load_lora_adapter", R"({"lora_name": "x"})", 400);
  post("/v1/unload_lora_adapter", R"({"lora_name": "one"})");
  post("/v1/unload_lora_adapter", R"({"lora_name": "one"})", 404);
  complete("one", 404);
  model_.adapters = std::make_shared<ServedAdapters>();
  EXPECT_EQ(load("two", "g", 403).at("error").at("message"),
            "adapters do not change while this server runs; one on one rank with "
            "--allow-adapter-loading loads more");
}

}  // namespace router_test
}  // namespace mpitron::inference
