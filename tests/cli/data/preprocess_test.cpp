#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/tiny_run.h"
#include "io/tokens/token_file.h"

namespace mpitron::cli {
namespace preprocess_test {

using namespace mpitron::test;

std::vector<std::int64_t> sequence(const io::TokenFile& file, Index which) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(file.lengths()[which]));
  file.read(which, 0, ids);
  return ids;
}

class Preprocess : public ::testing::Test {
 protected:
  Finished run(const std::string& text, const Words& more = {},
               const ProgramEnvironment& environment = {}) {
    write_bytes(folder_ / "in.jsonl", text);
    return preprocess_ids(folder_, "in.jsonl", "out", more, environment);
  }
  bool complete() const {
    return std::filesystem::exists(folder_ / "out_text_document.idx") &&
           std::filesystem::exists(folder_ / "out_text_document.bin");
  }
  /// What the folder holds of an output: files, temporary files, locks.
  Words files_of(const std::string& name) const {
    Words files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().starts_with(name)) {
        files.push_back(entry.path().filename());
      }
    }
    return files;
  }
  /// Refused with code 4, the place named, and no pair of files that looks complete.
  void expect_bad_input(const std::string& text, const std::string& part) {
    const Finished finished = run(text);
    EXPECT_EQ(finished.code, 4) << finished.err;
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out_text_document.idx"));
  }

  const TemporaryFolder folder_;
};

TEST_F(Preprocess, WritesTheIdsOfEveryDocument) {
  const Finished finished = run("{\"text\": \"1 2 3\"}\n{\"text\": \"4\"}\n", {"--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto report = nlohmann::json::parse(finished.out);
  EXPECT_EQ(report.at("documents"), 2);
  EXPECT_EQ(report.at("tokens"), 6);  // with two ends of document
  const io::TokenFile file(folder_ / "out_text_document", io::BinAccess::mapped);
  EXPECT_EQ(sequence(file, 0), (std::vector<std::int64_t>{1, 2, 3, 63}));
  EXPECT_EQ(sequence(file, 1), (std::vector<std::int64_t>{4, 63}));
}

TEST_F(Preprocess, TheFilesDoNotDependOnTheNumberOfWorkers) {
  write_ids(folder_ / "ids.jsonl", 500, 40);
  for (const char* workers : {"1", "3"}) {
    ASSERT_EQ(preprocess_ids(folder_, "ids.jsonl", workers, {"--workers", workers}).code, 0);
  }
  for (const char* end : {"_text_document.bin", "_text_document.idx"}) {
    EXPECT_EQ(read_file(folder_ / ("1" + std::string(end))),
              read_file(folder_ / ("3" + std::string(end))));
  }
}

TEST_F(Preprocess, BlankLinesAndEmptyDocumentsAreCountedNotHidden) {
  const Finished finished =
      run("{\"text\": \"1\"}\n\n{\"text\": \"\"}\n{\"text\": \"2\"}\n", {"--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto report = nlohmann::json::parse(finished.out);
  EXPECT_EQ(report.at("documents"), 3);
  EXPECT_EQ(report.at("blank_lines"), 1);
  EXPECT_EQ(report.at("empty_documents"), 1);
}

TEST_F(Preprocess, NamesTheLineThatIsWrong) {
  expect_bad_input("{\"text\": \"1\"}\n{\"text\": \n", "in.jsonl:2");
  expect_bad_input("{\"text\": \"1\"}\n{\"body\": \"1\"}\n", "text");
  expect_bad_input("{\"text\": \"1\"}\n{\"text\": \"\xff\"}\n", "in.jsonl:2");
  expect_bad_input("{\"text\": \"64\"}\n", "in.jsonl:1");  // beyond the vocabulary
  EXPECT_EQ(preprocess_ids(folder_, "absent.jsonl", "out").code, 4);
}

TEST_F(Preprocess, AFullDiskLeavesNothingThatLooksComplete) {
  write_ids(folder_ / "ids.jsonl", 2000, 50);
  const Finished finished =
      preprocess_ids(folder_, "ids.jsonl", "out", {}, {.largest_file = 100000});
  EXPECT_EQ(finished.code, 4) << finished.err;
  EXPECT_TRUE(contains(finished.err, "out_text_document.bin")) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out_text_document.idx"));
  EXPECT_EQ(preprocess_ids(folder_, "ids.jsonl", "out").code, 0);  // and again with space
  EXPECT_TRUE(complete());
}

/// Ctrl-C and a scheduler's SIGTERM while the input, a pipe, still comes.
TEST_F(Preprocess, ASignalLeavesNoFile) {
  for (const int number : {SIGINT, SIGTERM}) {
    const std::string pipe = folder_ / "pipe.jsonl";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    RunningProgram program(folder_.path(), preprocess_words("pipe.jsonl", "out"));
    int writer = -1;  // opens as soon as the program reads
    ASSERT_TRUE(program.wait([&] {
      writer = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      return writer >= 0;
    }));
    const std::string line = "{\"text\": \"1 2 3\"}\n";
    ASSERT_EQ(::write(writer, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    EXPECT_TRUE(program.wait([&] { return !files_of("out").empty(); }));
    program.signal(number);
    ::close(writer);
    const Finished finished = program.wait_for_end();
    EXPECT_EQ(finished.code, 86) << finished.err;
    EXPECT_TRUE(contains(finished.err, "stopped")) << finished.err;
    EXPECT_EQ(files_of("out"), Words());
    std::filesystem::remove(pipe);
  }
}

/// Nobody has opened the other end, or somebody has and says nothing.
TEST_F(Preprocess, ASignalEndsTheWaitForASilentPipe) {
  for (const bool opened : {false, true}) {
    const std::string pipe = folder_ / "pipe.jsonl";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    RunningProgram program(folder_.path(), preprocess_words("pipe.jsonl", "out"));
    EXPECT_TRUE(program.wait([&] { return !files_of("out").empty(); }));  // handles signals by now
    int writer = -1;
    if (opened) {
      ASSERT_TRUE(program.wait([&] {
        writer = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        return writer >= 0;
      }));
    }
    program.signal(SIGTERM);
    const Finished finished = program.wait_for_end();
    EXPECT_EQ(finished.code, 86) << finished.err;
    EXPECT_EQ(files_of("out"), Words());
    if (opened) {
      ::close(writer);
    }
    std::filesystem::remove(pipe);
  }
}

TEST_F(Preprocess, RefusesWhatItDoesNotDo) {
  const std::string text = "{\"text\": \"1\"}\n";
  EXPECT_EQ(run(text, {"--keep-newlines"}).code, 2);
  EXPECT_EQ(run(text, {"--split-sentences", "--lang", "klingon"}).code, 2);
  EXPECT_EQ(run(text, {"--partitions", "0"}).code, 2);
  EXPECT_EQ(run(text, {"--workers", "0"}).code, 2);
  EXPECT_EQ(run(text, {"--no-such-option"}).code, 2);
  EXPECT_FALSE(complete());
  EXPECT_EQ(run(text, {"--partitions", "2", "--keep-sequential-samples"}).code, 0);
  EXPECT_TRUE(complete());
}

TEST_F(Preprocess, ReadsStandardInput) {
  write_ids(folder_ / "ids.jsonl", 50, 8);
  ASSERT_EQ(preprocess_ids(folder_, "ids.jsonl", "file").code, 0);
  const Finished finished =
      preprocess_ids(folder_, "-", "out", {}, {.standard_input = folder_ / "ids.jsonl"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(read_file(folder_ / "out_text_document.bin"),
            read_file(folder_ / "file_text_document.bin"));
}

/// kill -9 at moments spread over the run, the first of them before it can have ended; what is
/// there then is never mistaken for the whole, and the same command goes on to the same bytes.
TEST_F(Preprocess, AKilledRunGoesOn) {
  write_ids(folder_ / "ids.jsonl", 30000, 60);
  const Words more = {"--journal-bytes", "200000", "--workers", "2", "--partitions", "2"};
  ASSERT_EQ(preprocess_ids(folder_, "ids.jsonl", "whole", more).code, 0);
  int killed = 0;
  for (unsigned wait = 500;; wait = wait * 3 / 2) {
    RunningProgram program(folder_.path(), preprocess_words("ids.jsonl", "out") + more);
    ::usleep(wait);
    program.signal(SIGKILL);
    const Finished finished = program.wait_for_end();
    if (finished.code == 0) {
      break;
    }
    ++killed;
    EXPECT_EQ(finished.code, 128 + SIGKILL);
  }
  EXPECT_GT(killed, 0);
  for (const char* end : {"_text_document.bin", "_text_document.idx"}) {
    EXPECT_EQ(read_file(folder_ / ("out" + std::string(end))),
              read_file(folder_ / ("whole" + std::string(end))));
  }
  EXPECT_EQ(files_of("out").size(), 2U);
}

}  // namespace preprocess_test
}  // namespace mpitron::cli
