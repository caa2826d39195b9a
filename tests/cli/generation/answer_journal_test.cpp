#include "cli/generation/answer_journal.h"

#include <csignal>
#include <random>

#include "cli/command_test.h"
#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::cli {
namespace answer_journal_test {

using namespace mpitron::test;

class AnswerJournalTest : public CommandTest {
 protected:
  std::filesystem::path output() const { return folder_.path() / "out.jsonl"; }
  std::filesystem::path part() const { return folder_.path() / "out.jsonl.part"; }
  AnswerJournal open(const std::string& requests = "r", const std::string& model = "m") const {
    return AnswerJournal(output(), {requests, model}, 3);
  }
  std::string error_of(const std::string& requests, const std::string& model) const {
    return message_of([&] { open(requests, model); });
  }
};

TEST_F(AnswerJournalTest, FinishedAnswersOutliveARun) {
  {
    AnswerJournal journal = open();
    journal.add(2, {"{\"c\": 1}\n", 0.1, 3});
    journal.add(0, {"{\"a\": 1}\n"});
  }
  write_bytes(part(), read_file(part()) + "1 0 0 {\"b\": ");  // torn
  AnswerJournal journal = open();
  EXPECT_TRUE(journal.has(0) && !journal.has(1) && journal.has(2));
  EXPECT_EQ(journal.answers()[2].loss, 0.1);
  EXPECT_EQ(journal.answers()[2].tokens, 3);
  journal.add(1, {"{\"b\": 2}\n"});
  journal.finish();
  EXPECT_EQ(read_file(output()), "{\"a\": 1}\n{\"b\": 2}\n{\"c\": 1}\n");
  EXPECT_FALSE(std::filesystem::exists(part()));
}

TEST_F(AnswerJournalTest, TheFirstLineMayBeTorn) {
  open();
  const std::string head = read_file(part());
  write_bytes(part(), head.substr(0, 12));
  open();
  EXPECT_EQ(read_file(part()), head);
}

TEST_F(AnswerJournalTest, RefusesWhatIsNotItsOwn) {
  {
    const AnswerJournal journal = open();
    EXPECT_TRUE(contains(error_of("r", "m"), "another run writes")) << error_of("r", "m");
  }
  EXPECT_TRUE(contains(error_of("other", "m"), "to other prompts, or with other options"));
  EXPECT_TRUE(contains(error_of("r", "other"), "of another model"));
  write_bytes(part(), read_file(part()) + "3 0 0 {}\n");
  EXPECT_TRUE(contains(error_of("r", "m"), "this is no answer: 3 0 0 {}"));
  write_bytes(part(), "my file\n");
  EXPECT_TRUE(contains(error_of("r", "m"), "is no journal"));
}

// MPITRON_KILLS: how many times (default 4).
TEST_F(AnswerJournalTest, KilledBatchesLoseAndRepeatNothing) {
  const char* given = std::getenv("MPITRON_KILLS");
  const int kills = given != nullptr ? std::atoi(given) : 4;
  ASSERT_EQ(run(kTinyMock + kSixteenPositions + Words{"--save", "saved"}).code, 0);
  std::mt19937 random(23);
  std::string prompts;
  for (int i = 0; i < 60 * kills; ++i) {
    prompts += "{\"text\": \"" + std::to_string(1 + random() % 60) + " 2\"}\n";
  }
  write_bytes(folder_.path() / "prompts", prompts);
  const Words generate = {"generate",
                          "--load",
                          "saved",
                          "--tokenizer-type",
                          "NullTokenizer",
                          "--vocab-size",
                          "63",
                          "--prompt-file",
                          "prompts",
                          "--top-k",
                          "0",
                          "--num-tokens-to-generate",
                          "8",
                          "--inference-max-requests",
                          "3"};
  const Finished undisturbed = run(generate + Words{"--output-path", "whole.jsonl"});
  ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
  const Words again = generate + Words{"--output-path", "out.jsonl"};
  std::string before;
  int killed = 0;
  for (; killed < kills; ++killed) {
    const RunningProgram program(folder_.path(), again);
    const std::size_t enough = before.size() + 200 + random() % 2000;
    ASSERT_TRUE(program.wait([&] {
      return std::filesystem::exists(output()) ||
             (std::filesystem::exists(part()) && read_file(part()).size() > enough);
    }));
    program.signal(SIGKILL);
    if (std::filesystem::exists(output())) {
      break;
    }
    std::string now = read_file(part());
    now.resize(now.rfind('\n') + 1);
    EXPECT_TRUE(now.starts_with(before));
    before = now;
  }
  EXPECT_GE(killed, kills / 2);
  expect_refused(again + Words{"--seed", "5"}, 2, "with other options");
  const Finished end = run(again);
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, undisturbed.out);
  EXPECT_EQ(read_file(output()), read_file(folder_.path() / "whole.jsonl"));
}

}  // namespace answer_journal_test
}  // namespace mpitron::cli
