#include "cli/image_prompts.h"

#include <csignal>

#include "cli/command_test.h"
#include "support/drawn_images.h"
#include "support/http.h"

namespace mpitron::cli {
namespace image_prompts_test {

using namespace mpitron::test;

/// A model that has seen two images once, and commands that show it images.
class ImagePromptsTest : public CommandTest {
 protected:
  ImagePromptsTest() {
    std::string conversations, questions;
    for (const std::string image : {"0.ppm", "1.ppm"}) {
      write_file(folder_ / ("images/" + image), drawn_image(image[0] - '0', 1));
      conversations += R"({"image": "images/)" + image +
                       R"(", "conversations": [{"from": "human", "value": "<image> 1 2"}, )" +
                       R"({"from": "gpt", "value": "3"}]})" + "\n";
      questions +=
          R"({"image": "images/)" + image + R"(", "question": "1 2", "answers": ["3"]})" + "\n";
    }
    write_file(folder_ / "talk.jsonl", conversations);
    write_file(folder_ / "questions.jsonl", questions);
    write_file(folder_ / "task.yaml", R"(task: small
output_type: generate_until
doc_to_image: "{{image}}"
doc_to_text: "{{question}}"
doc_to_target: "{{answers[0]}}"
doc_to_references: "{{answers}}"
generation_kwargs:
  max_gen_toks: 2
metric_list:
  - metric: vqa_accuracy
)");
    const Finished run = this->run(kModel);
    EXPECT_EQ(run.code, 0) << run.err;
  }

  inline static const Words kTokenizer = {"--tokenizer-type", "NullTokenizer", "--vocab-size",
                                          "63"};
  inline static const Words kSaved = Words{"--load", "saved"} + kTokenizer;
  inline static const Words kModel = Words{"pretrain-vlm",
                                           "--data-path",
                                           "talk.jsonl",
                                           "--encoder-num-layers",
                                           "1",
                                           "--img-h",
                                           "16",
                                           "--img-w",
                                           "16",
                                           "--patch-dim",
                                           "8",
                                           "--num-layers",
                                           "1",
                                           "--hidden-size",
                                           "16",
                                           "--num-attention-heads",
                                           "2",
                                           "--seq-length",
                                           "24",
                                           "--max-position-embeddings",
                                           "24",
                                           "--position-embedding-type",
                                           "rope",
                                           "--micro-batch-size",
                                           "2",
                                           "--train-iters",
                                           "1",
                                           "--lr",
                                           "1e-3",
                                           "--save",
                                           "saved"} +
                                     kTokenizer;
};

TEST_F(ImagePromptsTest, ShowImagesToAModel) {
  const Words ask = Words{"generate", "--prompts", "1 2", "--num-tokens-to-generate", "2"} + kSaved;
  const Finished one = run(ask + Words{"--image", "images/0.ppm"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(run(ask + Words{"--image", "images/0.ppm", "images/1.ppm"}).code, 0);
  expect_refused(ask + Words{"--image", "absent.png"}, 4, "absent.png");
  expect_refused(ask + Words{"--image", "talk.jsonl"}, 4, "talk.jsonl");
  const Finished task =
      run(Words{"evaluate", "--task", "task.yaml", "--valid-data", "questions.jsonl"} + kSaved);
  EXPECT_EQ(task.code, 0) << task.err;
  EXPECT_TRUE(contains(task.out, "vqa_accuracy: ")) << task.out;
}

TEST_F(ImagePromptsTest, AreServed) {
  RunningProgram server(
      folder_.path(),
      Words{"serve", "--port", "0", "--allowed-local-media-path", "images"} + kSaved);
  const int port = port_of(server);
  const auto answer = [&](const std::string& url) {
    const std::string body =
        R"({"max_tokens": 2, "messages": [{"role": "user", "content": [{"type": "image_url", )"
        R"("image_url": {"url": ")" +
        url + R"("}}, {"type": "text", "text": " 1 2"}]}]})";
    return http(port,
                "POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  const std::string seen = answer("file://0.ppm");
  EXPECT_TRUE(contains(seen, " 200 OK\r\n")) << seen;
  EXPECT_TRUE(contains(seen, "\"prompt_tokens\":8"))
      << seen;  // five of the image, two words, an end
  EXPECT_TRUE(contains(answer("../talk.jsonl"), "no file below --allowed-local-media-path"));
  EXPECT_TRUE(contains(answer("https://x/0.ppm"), "nothing is fetched from a network"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end().code, 0);
}

}  // namespace image_prompts_test
}  // namespace mpitron::cli
