#include "data/gpt/conversation_file.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::data {
namespace conversation_file_test {

class ConversationFileTest : public ::testing::Test {
 protected:
  std::string problem(const std::string& text) const {
    test::write_bytes(folder_ / "x.jsonl", text);
    return test::message_of([&] {
      const ConversationFile file(folder_ / "x.jsonl");
      for (Index i = 0; i < file.size(); ++i) {
        file.read(i);
      }
    });
  }

  test::TemporaryFolder folder_;
};

constexpr const char* kGood = R"({"messages": [{"role": "user", "content": "ä"}], "id": 1})";

TEST_F(ConversationFileTest, ReadsMessages) {
  test::write_bytes(folder_ / "x.jsonl", std::string(kGood) + "\r\n \n" + kGood);
  const ConversationFile file(folder_ / "x.jsonl");
  ASSERT_EQ(file.size(), 2);
  const Conversation conversation = file.read(1);
  ASSERT_EQ(conversation.size(), 1U);
  EXPECT_EQ(conversation[0].role, "user");
  EXPECT_EQ(conversation[0].content, "ä");
}

TEST_F(ConversationFileTest, KnowsTheUsualForms) {
  test::write_bytes(folder_ / "x.jsonl",
                    R"({"conversations": [{"from": "system", "value": "s"}, )"
                    R"({"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]})"
                    "\n"
                    R"({"prompt": "q", "completion": "a"})"
                    "\n"
                    R"({"instruction": "q", "input": "i", "output": "a"})"
                    "\n"
                    R"({"instruction": "q", "output": "a"})");
  const ConversationFile file(folder_ / "x.jsonl");
  const auto text = [&](Index i) {
    std::string joined;
    for (const auto& message : file.read(i)) {
      joined += message.role + ":" + message.content + ";";
    }
    return joined;
  };
  EXPECT_EQ(text(0), "system:s;user:q;assistant:a;");
  EXPECT_EQ(text(1), "user:q;assistant:a;");
  EXPECT_EQ(text(2), "user:q\n\ni;assistant:a;");
  EXPECT_EQ(text(3), text(1));
}

TEST_F(ConversationFileTest, ErrorsOfEncodingNameTheLine) {
  test::write_bytes(folder_ / "x.jsonl", std::string(kGood) + "\n\n" + kGood);
  const ConversationFile file(folder_ / "x.jsonl");
  const std::string message = test::message_of([&] {
    file.read_encoded(1, [](const Conversation&) -> EncodedConversation { throw_data("odd"); });
  });
  EXPECT_NE(message.find("x.jsonl: line 3: odd"), std::string::npos) << message;
}

TEST_F(ConversationFileTest, TheFirstWithoutAnAnswerIsTold) {
  test::write_bytes(folder_ / "x.jsonl", std::string(kGood) + "\n\n" + kGood);
  const ConversationFile file(folder_ / "x.jsonl");
  const auto read = [&](Index i, std::int64_t target) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    file.read_encoded(i, [&](const Conversation&) { return EncodedConversation{{1}, {target}}; });
    return testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(read(0, 1), "");
  const std::string told = read(1, EncodedConversation::kNotLearned);
  EXPECT_NE(told.find("x.jsonl: line 3: has no answer"), std::string::npos) << told;
  EXPECT_EQ(read(0, EncodedConversation::kNotLearned), "");
}

TEST_F(ConversationFileTest, ErrorsNameLineAndByte) {
  EXPECT_NE(problem("\n\n").find("no conversation"), std::string::npos);
  const std::string message = problem(std::string(kGood) + "\n\n{\"messages\": [");
  EXPECT_NE(message.find("line 3 (byte 60): no valid JSON"), std::string::npos) << message;
  EXPECT_NE(problem("[]").find("no object"), std::string::npos);
  EXPECT_NE(problem(R"({"messages": 1})").find("\"messages\" is no list"), std::string::npos);
  EXPECT_NE(problem(R"({"text": "x"})").find("line 1 (byte 0): none of the known columns"),
            std::string::npos);
  EXPECT_NE(problem(R"({"prompt": "x"})").find("\"completion\" are not both"), std::string::npos);
  EXPECT_NE(problem(R"({"prompt": "x", "completion": ""})").find("answer \"completion\" is empty"),
            std::string::npos);
  EXPECT_NE(problem(R"({"instruction": "x", "input": 3, "output": "y"})").find("\"input\""),
            std::string::npos);
  EXPECT_NE(problem(R"({"messages": []})").find("without messages"), std::string::npos);
  EXPECT_NE(problem(R"({"messages": [{"role": "user"}]})").find("\"content\""), std::string::npos);
  EXPECT_NE(problem(R"({"messages": [{"role": 1, "content": "x"}]})").find("\"role\""),
            std::string::npos);
}

TEST_F(ConversationFileTest, FuzzedFilesNeverCrash) {
  int refused = 0;
  test::for_each_mutation(std::string(kGood) + "\n" + kGood, 500, [&](const std::string& bytes) {
    refused += problem(bytes).empty() ? 0 : 1;
  });
  EXPECT_GT(refused, 100);
}

}  // namespace conversation_file_test

namespace encoded_conversation_test {

constexpr std::int64_t kNo = EncodedConversation::kNotLearned;
using Targets = std::vector<std::int64_t>;

Targets chosen(LearnedTurns turns, Targets targets) {
  EncodedConversation conversation{{1, 2, 3, 4, 5, 6}, std::move(targets)};
  choose_targets(conversation, turns);
  return conversation.targets;
}

TEST(EncodedConversation, ChoosesWhatIsLearned) {
  const Targets two_answers{kNo, 2, kNo, 4, 5, kNo};
  EXPECT_EQ(chosen(LearnedTurns::answers, two_answers), two_answers);
  EXPECT_EQ(chosen(LearnedTurns::last_answer, two_answers), (Targets{kNo, kNo, kNo, 4, 5, kNo}));
  EXPECT_EQ(chosen(LearnedTurns::everything, two_answers), (Targets{1, 2, 3, 4, 5, 6}));
}

TEST(EncodedConversation, WithoutAnswersNothingIsLearned) {
  const Targets none(6, kNo);
  EXPECT_EQ(chosen(LearnedTurns::last_answer, none), none);
}

}  // namespace encoded_conversation_test
}  // namespace mpitron::data
