#include <csignal>

#include "cli/command_test.h"
#include "support/http.h"

// The commands that generate, in the program with the emulated GPU.

namespace mpitron::cli {
namespace gpu_generation_test {

using namespace mpitron::test;

class GpuGenerationTest : public CommandTest {
 protected:
  GpuGenerationTest() {
    const Words host = {"--device", "host", "--save", "saved", "--save-interval", "4"};
    EXPECT_EQ(run(kTinyMock + host).code, 0);
  }
  static Words command(const std::string& name, const std::string& device, const Words& more) {
    return Words{name, "--load",   "saved", "--tokenizer-type", "NullTokenizer", "--vocab-size",
                 "63", "--device", device} +
           more;
  }
};

TEST_F(GpuGenerationTest, GenerateWritesWhatTheHostDoes) {
  const Words both = {"--prompts", "1 2 3 4 5 6 7", "8 9", "--num-tokens-to-generate", "12"};
  const Finished host = run(command("generate", "host", both));
  const Finished gpu = run(command("generate", "cuda", both));
  EXPECT_EQ(gpu.code, 0) << gpu.err;
  EXPECT_EQ(gpu.out, host.out);
  EXPECT_TRUE(contains(gpu.err, "GPU 0 (")) << gpu.err;
  const Finished recorded = run(command("generate", "cuda", both + Words{"--enable-cuda-graph"}));
  EXPECT_EQ(recorded.out, host.out) << recorded.err;
}

TEST_F(GpuGenerationTest, ServeAndChatAnswerAsGenerate) {
  const Finished wanted =
      run(command("generate", "host", {"--prompts", "1 2", "--num-tokens-to-generate", "3"}));
  const std::string answer = wanted.out.substr(wanted.out.find("1 2") + 3);
  RunningProgram server(folder_.path(), command("serve", "cuda", {"--port", "0"}));
  const std::string body = R"({"prompts": ["1 2"], "tokens_to_generate": 3, "top_k": 1})";
  const std::string reply =
      http(port_of(server), "PUT /api HTTP/1.1\r\nConnection: close\r\nContent-Length: " +
                                std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(contains(reply, "\"text\":[\"1 2" + answer.substr(0, answer.find('\n')) + "\"]"))
      << reply << wanted.out;
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end().code, 0);
  write_bytes(folder_.path() / "input", "1 2\n");
  const Finished chat =
      run(command("chat", "cuda", {"--num-tokens-to-generate", "3", "--temperature", "0"}),
          {.standard_input = (folder_.path() / "input").string()});
  EXPECT_EQ(chat.code, 0) << chat.err;
  EXPECT_TRUE(contains(chat.out, answer)) << chat.out << wanted.out;
}

TEST_F(GpuGenerationTest, AdaptersAnswerAsOnTheHost) {
  const Words tuned = {"--device",
                       "host",
                       "--pretrained-checkpoint",
                       "saved",
                       "--save",
                       "tuned",
                       "--lr",
                       "0.05",
                       "--lora-rank",
                       "2",
                       "--lora-alpha",
                       "8",
                       "--lora-target-modules",
                       "all-linear"};
  ASSERT_EQ(run(kTinyMock + tuned).code, 0);
  ASSERT_EQ(run({"adapter", "--load", "tuned", "--output", "peft"}).code, 0);
  const Words prompt = {"--prompts", "1 2 3 4 5 6 7", "--num-tokens-to-generate", "12"};
  const Words adapted = prompt + Words{"--adapter", "peft"};
  const Finished host = run(command("generate", "host", adapted));
  const Finished gpu = run(command("generate", "cuda", adapted));
  EXPECT_EQ(gpu.code, 0) << gpu.err;
  EXPECT_EQ(gpu.out, host.out);
  EXPECT_NE(gpu.out, run(command("generate", "host", prompt)).out);
  const Words packed = adapted + Words{"--inference-weights", "int8"};
  EXPECT_EQ(run(command("generate", "cuda", packed)).out,
            run(command("generate", "host", packed)).out);
}

TEST_F(GpuGenerationTest, ReadsWeightsOfFewBitsAsTheHost) {
  const Words prompt = {"--prompts", "1 2 3 4 5 6 7", "8 9", "--num-tokens-to-generate", "12"};
  for (const char* format : {"int8", "q4"}) {
    const Words packed = prompt + Words{"--inference-weights", format};
    const Finished host = run(command("generate", "host", packed));
    const Finished gpu = run(command("generate", "cuda", packed));
    EXPECT_EQ(gpu.code, 0) << gpu.err;
    EXPECT_EQ(gpu.out, host.out) << format;
    const Finished recorded =
        run(command("generate", "cuda", packed + Words{"--enable-cuda-graph"}));
    EXPECT_EQ(recorded.out, host.out) << recorded.err;
  }
}

TEST_F(GpuGenerationTest, RefusesWhatAGpuHasNot) {
  const Words prompt = {"--prompts", "1"};
  expect_refused(command("generate", "cuda", prompt + Words{"--inference-weights", "fp16"}), 2,
                 "--inference-weights fp16: on a GPU products read the weights of --load in their "
                 "own type, fp32, or in int8 or q4; give --inference-weights auto, int8 or q4, or "
                 "--device host");
  expect_refused(command("generate", "tpu", prompt), 2, "--device");
  expect_refused(command("generate", "host", prompt + Words{"--enable-cuda-graph"}), 2,
                 "--enable-cuda-graph: the model lies on the host; leave it out");
}

}  // namespace gpu_generation_test
}  // namespace mpitron::cli
