#include <csignal>

#include <sys/stat.h>

#include "cli/command_test.h"

namespace mpitron::cli {
namespace chat_test {

using namespace mpitron::test;

class ChatTest : public CommandTest {
 protected:
  ChatTest() {
    EXPECT_EQ(run(kTinyMock + Words{"--save", "saved", "--save-interval", "4"}).code, 0);
  }
  const Words chat_ = {"chat",          "--load",       "saved", "--tokenizer-type",
                       "NullTokenizer", "--vocab-size", "63"};
};

/// The second turn goes on behind the first; after /reset the same words get the first answer.
TEST_F(ChatTest, RemembersUntilItIsReset) {
  std::string longer = "5";  // than the model's positions
  for (int token = 0; token < 5000; ++token) {
    longer += " 6";
  }
  write_bytes(folder_.path() / "input", "1 2\n3\n/reset\n1 2\n" + longer + "\n");
  const Finished end = run(chat_ + Words{"--num-tokens-to-generate", "3"},
                           {.standard_input = (folder_.path() / "input").string()});
  EXPECT_EQ(end.code, 0) << end.err;
  Words lines;
  std::istringstream text(end.out);
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
  }
  ASSERT_GE(lines.size(), 7u) << end.out;
  EXPECT_TRUE(contains(lines[1], "no chat template")) << end.out;
  EXPECT_NE(lines[2], lines[3]);
  EXPECT_EQ(lines[2], lines[5]) << end.out;
  EXPECT_TRUE(contains(lines[6], ": /reset begins anew")) << end.out;
}

TEST_F(ChatTest, CtrlCDoesNotEndIt) {
  const std::string fifo = (folder_.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  RunningProgram chat(folder_.path(), chat_, {.standard_input = fifo});
  std::ofstream typed(fifo);
  ASSERT_TRUE(chat.wait_for_output("no chat template"));
  chat.signal(SIGINT);
  ASSERT_TRUE(chat.wait_for_output("/exit ends the chat"));
  typed << "/exit\n" << std::flush;
  EXPECT_EQ(chat.wait_for_end().code, 0);
}

TEST_F(ChatTest, RefusesWhatCannotBe) {
  expect_refused(chat_ + Words{"--top-p", "2"}, 2, "--top-p");
  expect_refused(chat_ + Words{"--chat-template", "absent"}, 4, "absent");
  write_bytes(folder_.path() / "bad.jinja", "{% if %}");
  expect_refused(chat_ + Words{"--chat-template", "bad.jinja"}, 4, "line 1");
}

}  // namespace chat_test
}  // namespace mpitron::cli
