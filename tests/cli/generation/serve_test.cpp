#include <csignal>

#include "cli/command_test.h"
#include "support/http.h"

namespace mpitron::cli {
namespace serve_test {

using namespace mpitron::test;

class ServeTest : public CommandTest {
 protected:
  ServeTest() {
    EXPECT_EQ(run(kTinyMock + Words{"--save", "saved", "--save-interval", "4"}).code, 0);
  }
  const Words serve_ = {"serve",         "--load",       "saved", "--tokenizer-type",
                        "NullTokenizer", "--vocab-size", "63"};
};

TEST_F(ServeTest, AnswersUntilItIsTold) {
  RunningProgram server(folder_.path(), serve_ + Words{"--port", "0"});
  const int port = port_of(server);
  const std::string body = R"({"prompts": ["1 2"], "tokens_to_generate": 3, "top_k": 1})";
  const std::string reply =
      http(port, "PUT /api HTTP/1.1\r\nConnection: close\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(contains(reply, " 200 OK\r\n")) << reply;
  EXPECT_TRUE(contains(reply, "\"text\":[\"1 2 ")) << reply;
  const std::string address = "127.0.0.1:" + std::to_string(port);
  const Finished asked = run({"ask", address, "1", "2", "--max-tokens", "3", "--seed", "1"});
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_EQ(std::ranges::count(asked.out, ' '), 3) << asked.out;
  const Finished whole = run({"ask", address, "1 2", "--max-tokens", "3", "--seed", "1", "--json"});
  EXPECT_TRUE(contains(whole.out, asked.out.substr(0, asked.out.size() - 1))) << whole.out;
  expect_refused({"ask", address, "1", "--max-tokens", "9999"}, 2, "Error 400: ");
  write_bytes(folder_.path() / "input", "1 2\n2\n\n3\n");
  const Finished talk =
      run({"ask", address, "--dialogue"}, {.standard_input = (folder_.path() / "input").string()});
  EXPECT_TRUE(contains(talk.out, "Megatron Response: \n1 2 ")) << talk.out;
  EXPECT_TRUE(contains(talk.out, "Error 400: Empty prompts require add_BOS=true")) << talk.out;
  expect_refused(serve_ + Words{"--port", std::to_string(port)}, 3,
                 "--port " + std::to_string(port));
  server.signal(SIGTERM);
  const Finished end = server.wait_for_end();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_TRUE(contains(end.out, "every request is answered")) << end.out;
}

TEST_F(ServeTest, RefusesWhatCannotBe) {
  expect_refused(serve_ + Words{"--port", "70000"}, 2, "--port 70000");
  expect_refused(serve_ + Words{"--max-bodies-mb", "8"}, 2, "--max-bodies-mb 8: allowed are 32 to");
  expect_refused(serve_ + Words{"--prompt-tokens-beside-answers", "-1"}, 2,
                 "--prompt-tokens-beside-answers -1: allowed are 0 to");
  expect_refused(serve_ + Words{"--inference-state-snapshots", "-2"}, 2,
                 "--inference-state-snapshots -2: allowed are -1");
  expect_refused({"serve", "--port", "0"}, 2, "--load");
  expect_refused({"ask"}, 2, "HOST:PORT");
  expect_refused({"ask", "127.0.0.1:1", "a"}, 3, "127.0.0.1:1: no answer");
}

}  // namespace serve_test
}  // namespace mpitron::cli
