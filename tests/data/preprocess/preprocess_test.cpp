#include "data/preprocess/preprocess.h"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "data/preprocess/preprocess_output.h"
#include "io/tokens/token_file.h"
#include "support/full_disk.h"
#include "tokenizers/core/null_tokenizer.h"
#include "tokenizers/golden_tokenizer.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::data {
namespace preprocess_test {

class PreprocessTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  PreprocessOptions options(std::vector<std::string> inputs) const {
    PreprocessOptions options;
    options.inputs = std::move(inputs);
    options.output_prefix = folder_ / "out";
    return options;
  }
  // The message of a run that must fail with this exit code and leave nothing: no token file, no
  // index, no temporary file, no lock.
  std::string failure(const PreprocessOptions& options, const tokenizers::Tokenizer& tokenizer,
                      ExitCode code = ExitCode::data) const {
    try {
      preprocess(tokenizer, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
        EXPECT_FALSE(entry.path().filename().string().starts_with("out")) << entry.path();
      }
      return error.what();
    }
    ADD_FAILURE() << "accepted";
    return "";
  }
  std::string failure(const PreprocessOptions& options, ExitCode code = ExitCode::data) const {
    return failure(options, tokenizers::gpt2_tokenizer(), code);
  }
  std::string failure_of_line(const std::string& line) const {
    return failure(options({file("in.jsonl", "{\"text\": \"fine\"}\n\n" + line + "\n")}));
  }
  static std::vector<std::int64_t> sequence(const io::TokenFile& corpus, Index i) {
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(corpus.length(i)));
    corpus.read(i, 0, tokens);
    return tokens;
  }

  test::TemporaryFolder folder_;
};

using Tokens = std::vector<std::int64_t>;

TEST_F(PreprocessTest, AStoppedRunLeavesNoFile) {
  for (const int workers : {1, 3}) {
    PreprocessOptions stopped =
        options({file("in.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n")});
    stopped.workers = workers;
    stopped.batch_bytes = 1;
    int asked = 0;
    stopped.stop = [&] {
      const bool writing = std::ranges::any_of(
          std::filesystem::directory_iterator(folder_.path()),
          [](const auto& entry) { return entry.path().extension() == ".part"; });
      EXPECT_TRUE(writing);
      return ++asked == 2;
    };
    EXPECT_EQ(failure(stopped, ExitCode::interrupted_unsaved),
              "preprocess was stopped; nothing was written");
  }
}

// One batch for each document and one for the end of the input ask; the last one to ask is who
// commits.
TEST_F(PreprocessTest, AStopBehindTheLastDocumentLeavesNoFile) {
  PreprocessOptions stopped = options({file("in.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n")});
  stopped.batch_bytes = 1;
  int asked = 0;
  stopped.stop = [&] { return ++asked > 3; };
  EXPECT_EQ(failure(stopped, ExitCode::interrupted_unsaved),
            "preprocess was stopped; nothing was written");
}

TEST_F(PreprocessTest, WritesMegatronsLayout) {
  const tokenizers::NullTokenizer tokenizer(100);
  PreprocessOptions given = options({file("in.jsonl",
                                          "{\"text\": \"1 2 3\"}\n\n{\"text\": \"\"}\n"
                                          "{\"text\": [\"4 5\", \"\", \"6\"], \"x\": 1}")});
  given.append_eod = true;
  const PreprocessReport report = preprocess(tokenizer, given);
  EXPECT_EQ(report.documents, 3);
  EXPECT_EQ(report.empty_documents, 1);
  EXPECT_EQ(report.blank_lines, 1);
  EXPECT_EQ(report.tokens, 8);
  const io::TokenFile corpus(folder_ / "out_text_document");
  EXPECT_EQ(corpus.type(), io::TokenType::u16);
  ASSERT_EQ(corpus.sequence_count(), 3);
  EXPECT_EQ(sequence(corpus, 0), (Tokens{1, 2, 3, 100}));
  EXPECT_EQ(sequence(corpus, 1), (Tokens{4, 5}));
  EXPECT_EQ(sequence(corpus, 2), (Tokens{6, 100}));
  ASSERT_EQ(corpus.document_count(), 3);  // the empty one too, as the reference
  EXPECT_EQ(corpus.document_begin(1), 1);
  EXPECT_EQ(corpus.document_begin(2), 1);
  EXPECT_EQ(corpus.document_begin(3), 3);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out_text_document.lock"));
}

TEST_F(PreprocessTest, EveryKeyHasItsFiles) {
  PreprocessOptions given = options({file("in.jsonl", "{\"b\": \"7\", \"a\": \"8 9\"}\n")});
  given.json_keys = {"a", "b"};
  preprocess(tokenizers::NullTokenizer(70000), given);
  EXPECT_EQ(sequence(io::TokenFile(folder_ / "out_a_document"), 0), (Tokens{8, 9}));
  EXPECT_EQ(sequence(io::TokenFile(folder_ / "out_b_document"), 0), (Tokens{7}));
  EXPECT_EQ(io::TokenFile(folder_ / "out_b_document").type(), io::TokenType::i32);
}

TEST_F(PreprocessTest, AnyNumberOfWorkersWritesTheSameBytes) {
  std::string json;
  std::string text;
  for (int i = 0; i < 4000; ++i) {
    json += "{\"text\": \"Line " + std::to_string(i * i) + " of the book.\"}\n";
    text += "Paragraph " + std::to_string(i) + (i % 3 == 0 ? "\n\n" : "\n");
  }
  PreprocessOptions given = options({file("a.jsonl", json), file("b.txt", text)});
  given.batch_bytes = 3000;
  std::vector<std::string> contents;
  for (const int workers : {1, 2, 7}) {
    given.workers = workers;
    preprocess(tokenizers::gpt2_tokenizer(), given);
    contents.push_back(read_file(folder_ / "out_text_document.bin") +
                       read_file(folder_ / "out_text_document.idx"));
    EXPECT_EQ(contents.back(), contents.front()) << workers;
  }
  const io::TokenFile corpus(folder_ / "out_text_document");
  EXPECT_EQ(corpus.document_count(), 4000 + 1334);
  const auto ids = tokenizers::gpt2_tokenizer().encode("Line 9 of the book.");
  EXPECT_EQ(sequence(corpus, 3), Tokens(ids.begin(), ids.end()));
}

TEST_F(PreprocessTest, BadInputNamesFileLineAndByte) {
  EXPECT_NE(
      failure_of_line("{}").find("in.jsonl:3: document at byte 18: the object has no key \"text\""),
      std::string::npos);
  EXPECT_NE(failure_of_line("{\"text\": \"\xC3(\"}")
                .find("in.jsonl:3: document at byte 18: not valid UTF-8 at byte 10"),
            std::string::npos);
  EXPECT_NE(failure_of_line("{\"text\": ").find("in.jsonl:3"), std::string::npos);
  EXPECT_NE(failure_of_line("nonsense").find("not valid JSON"), std::string::npos);
  EXPECT_NE(failure_of_line("{\"text\": 5}").find("found a number"), std::string::npos);
  EXPECT_NE(failure(options({file("t.txt", "good\n\nb\x80")}))
                .find("t.txt:3: document at byte 6: text is not valid UTF-8 "
                      "at byte 1"),
            std::string::npos);
  EXPECT_NE(failure(options({file("n.jsonl", "{\"text\": \"1 x\"}")}), tokenizers::NullTokenizer(5))
                .find("n.jsonl:1"),
            std::string::npos);
  EXPECT_NE(failure(options({folder_ / "none.jsonl"})).find("No such file"), std::string::npos);
}

TEST_F(PreprocessTest, ADocumentLongerThanManyBatches) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) {
    text += "word" + std::to_string(i % 1000) + ' ';
  }
  PreprocessOptions given =
      options({file("in.jsonl", "{\"text\": \"" + text + "\"}\n{\"text\": \"end\"}\n")});
  given.batch_bytes = 1000;
  given.workers = 2;
  EXPECT_EQ(preprocess(tokenizers::gpt2_tokenizer(), given).documents, 2);
  const io::TokenFile corpus(folder_ / "out_text_document");
  EXPECT_EQ(corpus.length(0), static_cast<Index>(tokenizers::gpt2_tokenizer().encode(text).size()));
}

TEST_F(PreprocessTest, FullDiskLeavesNoOutput) {
  std::string json;
  for (int i = 0; i < 200'000; ++i) {
    json += "{\"text\": \"some words here " + std::to_string(i) + "\"}\n";
  }
  const PreprocessOptions given = options({file("in.jsonl", json)});
  for (const rlim_t limit : {rlim_t{100'000}, rlim_t{500'000}, rlim_t{2'500'000}}) {
    std::string message;
    {
      const test::FullDisk full(limit);
      message = failure(given);
    }
    const std::string name = limit < 2'500'000 ? "out_text_document.bin" : "out_text_document.idx";
    EXPECT_NE(message.find(name + ": cannot write"), std::string::npos) << message;
    EXPECT_NE(message.find("and run again"), std::string::npos) << message;
  }
  EXPECT_EQ(preprocess(tokenizers::gpt2_tokenizer(), given).documents, 200'000);
}

TEST_F(PreprocessTest, TwoRunsOfOnePrefix) {
  const OutputLock other(folder_ / "out_text_document");
  const std::string message = test::message_of([&] {
    preprocess(tokenizers::gpt2_tokenizer(), options({file("in.jsonl", "{\"text\": \"x\"}\n")}));
  });
  EXPECT_NE(message.find("another run is writing"), std::string::npos);
}

TEST_F(PreprocessTest, SentencesAreSequences) {
  PreprocessOptions given = options(
      {file("in.jsonl", "{\"text\": \"Mr. A. Smith came.  He left.\"}\n{\"text\": \"One.\"}\n")});
  given.split_sentences = true;
  given.append_eod = true;
  preprocess(tokenizers::gpt2_tokenizer(), given);
  const io::TokenFile corpus(folder_ / "out_text_sentence");
  ASSERT_EQ(corpus.sequence_count(), 3);
  EXPECT_EQ(corpus.document_begin(1), 2);
  const auto& tokenizer = tokenizers::gpt2_tokenizer();
  const auto ids = tokenizer.encode("Mr. A. Smith came.");
  EXPECT_EQ(sequence(corpus, 0), Tokens(ids.begin(), ids.end()));
  Tokens second;
  for (const auto id : tokenizer.encode("He left.")) {
    second.push_back(id);
  }
  second.push_back(tokenizer.eod());
  EXPECT_EQ(sequence(corpus, 1), second);
}

// The reference deals lines out to partition files in turn and joins those.
TEST_F(PreprocessTest, PartitionsDealTheDocumentsOut) {
  std::string json;
  for (int i = 0; i < 50; ++i) {
    json += "{\"a\": \"" + std::to_string(i) + "\", \"b\": \"" + std::to_string(99 - i) + "\"}\n";
  }
  PreprocessOptions given = options({file("in.jsonl", json)});
  given.json_keys = {"a", "b"};
  given.partitions = 3;
  given.batch_bytes = 100;
  for (const int workers : {1, 3}) {
    given.workers = workers;
    preprocess(tokenizers::NullTokenizer(100), given);
    const io::TokenFile a(folder_ / "out_a_document");
    const io::TokenFile b(folder_ / "out_b_document");
    ASSERT_EQ(a.sequence_count(), 50);
    a.verify();
    Index at = 0;
    for (std::int64_t lane = 0; lane < 3; ++lane) {
      for (std::int64_t i = lane; i < 50; i += 3, ++at) {
        EXPECT_EQ(sequence(a, at), Tokens{i});
        EXPECT_EQ(sequence(b, at), Tokens{99 - i});
        EXPECT_EQ(a.document_begin(at), at);
      }
    }
  }
  given.keep_sequential_samples = true;
  preprocess(tokenizers::NullTokenizer(100), given);
  EXPECT_EQ(sequence(io::TokenFile(folder_ / "out_a_document"), 1), Tokens{1});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 5);  // no parts
}

TEST_F(PreprocessTest, BadLinesCanBeLeftOut) {
  PreprocessOptions given = options(
      {file("in.jsonl",
            "{\"a\": \"1\", \"b\": \"2\"}\nbroken\n{\"a\": \"3\"}\n{\"a\": \"4\", \"b\": \"x\"}\n"
            "{\"a\": \"5\", \"b\": \"6\"}\n"),
       file("end.jsonl", "{\"a\": \"7\", \"b\": \"8\"}")});
  given.json_keys = {"a", "b"};
  given.skip_bad_lines = true;
  const PreprocessReport report = preprocess(tokenizers::NullTokenizer(10), given);
  EXPECT_EQ(report.bad_lines, 3);
  EXPECT_EQ(report.documents, 3);
  const io::TokenFile a(folder_ / "out_a_document");
  ASSERT_EQ(a.sequence_count(), 3);  // of a bad line neither key
  EXPECT_EQ(sequence(a, 1), (Tokens{5}));
  EXPECT_EQ(io::TokenFile(folder_ / "out_b_document").sequence_count(), 3);
}

TEST_F(PreprocessTest, NulBytesAreNoText) {
  const std::string nul(1, '\0');
  EXPECT_NE(failure(options({file("t.txt", "ab" + nul + "c")})).find("NUL byte at byte 2"),
            std::string::npos);
  EXPECT_NE(failure_of_line("{\"text\": \"a" + nul + "\"}").find("NUL byte at byte 11"),
            std::string::npos);
  EXPECT_NE(failure_of_line(std::string(100, '\0')).find("NUL byte at byte 0"), std::string::npos);
}

// Stops behind each entry of the journal in turn, and goes on with another number of workers.
TEST_F(PreprocessTest, AStoppedRunGoesOnToTheSameBytes) {
  std::string json;
  for (int i = 0; i < 400; ++i) {
    json +=
        "{\"a\": \"" + std::to_string(i) + " 1\", \"b\": \"" + (i % 7 == 0 ? "" : "2") + "\"}\n";
  }
  PreprocessOptions given = options({file("in.jsonl", json), file("more.jsonl", json)});
  given.json_keys = {"a", "b"};
  given.append_eod = true;
  given.partitions = 2;
  given.batch_bytes = 500;
  const tokenizers::NullTokenizer tokenizer(1000);
  const auto bytes = [&] {
    std::string all;
    for (const char* name :
         {"a_document.bin", "a_document.idx", "b_document.bin", "b_document.idx"}) {
      all += read_file(folder_ / ("out_" + std::string(name)));
    }
    return all;
  };
  const PreprocessReport whole = preprocess(tokenizer, given);
  const std::string expected = bytes();
  given.journal_bytes = 1000;
  int stops = 0;
  for (bool stopped = true; stopped; ++stops) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".idx" && stops == 0) {
        std::filesystem::remove(entry.path());
      }
    }
    int asked = 0;
    given.workers = 1 + stops % 3;
    given.stop = [&] { return ++asked > 9; };
    try {
      const PreprocessReport report = preprocess(tokenizer, given);
      EXPECT_EQ(report.documents, whole.documents);
      EXPECT_EQ(report.tokens, whole.tokens);
      EXPECT_EQ(report.empty_documents, whole.empty_documents);
      EXPECT_EQ(report.bytes, whole.bytes);
      stopped = false;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::interrupted) << error.what();
      EXPECT_FALSE(std::filesystem::exists(folder_ / "out_a_document.idx"));
    }
  }
  EXPECT_GE(stops, 3);
  EXPECT_EQ(bytes(), expected);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 6);
}

TEST_F(PreprocessTest, OtherOptionsBeginAnew) {
  std::string json;
  for (int i = 0; i < 400; ++i) {
    json += "{\"text\": \"" + std::to_string(i) + "\"}\n";
  }
  PreprocessOptions given = options({file("in.jsonl", json)});
  given.batch_bytes = 500;
  given.journal_bytes = 500;
  int asked = 0;
  given.stop = [&] { return ++asked > 4; };
  const tokenizers::NullTokenizer tokenizer(1000);
  EXPECT_THROW(preprocess(tokenizer, given), Error);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out_text_document.journal"));
  given.append_eod = true;
  given.stop = {};
  EXPECT_EQ(preprocess(tokenizer, given).tokens, 800);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out_text_document.journal"));
}

TEST_F(PreprocessTest, OptionsThatContradict) {
  const auto code = [](const PreprocessOptions& given) {
    try {
      preprocess(tokenizers::NullTokenizer(5), given);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::success;
  };
  EXPECT_EQ(code(options({})), ExitCode::usage);
  PreprocessOptions given = options({file("a.txt", "1")});
  given.json_keys = {"a", "b"};
  EXPECT_EQ(code(given), ExitCode::usage);
  given.json_keys = {"a"};
  given.workers = 0;
  EXPECT_EQ(code(given), ExitCode::usage);
  given = options({file("a.jsonl", "{}")});
  given.partitions = 0;
  EXPECT_EQ(code(given), ExitCode::usage);
  given.partitions = 257;
  EXPECT_EQ(code(given), ExitCode::usage);
  given.partitions = 1;
  given.keep_newlines = true;
  EXPECT_EQ(code(given), ExitCode::usage);
  given.split_sentences = true;
  given.language = "klingon";
  EXPECT_EQ(code(given), ExitCode::usage);
}

}  // namespace preprocess_test
}  // namespace mpitron::data
