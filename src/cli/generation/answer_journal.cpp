#include "cli/generation/answer_journal.h"

#include <cerrno>
#include <charconv>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/system/files.h"

// OUTPUT.part: a head line with the digests of requests and model, then a line for each finished
// answer: prompt number, loss, tokens, JSON. Lines come in the order in which answers finish. A
// line without its newline is what a killed run was writing, and is cut off.

namespace mpitron::cli {
namespace {

constexpr std::string_view kTitle = "answers of mpitron generate";

std::string head_of(const AnswerJournal::Origin& origin) {
  return fmt::format("{}: requests {} model {}\n", kTitle, origin.requests, origin.model);
}

/// Takes a number and the blank behind it.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto size = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || size == text.size() || text[size] != ' ') {
    return false;
  }
  text.remove_prefix(size + 1);
  return true;
}

}  // namespace

AnswerJournal::AnswerJournal(std::filesystem::path output, const Origin& origin,
                             std::size_t prompts)
    : AnswerJournal(std::move(output), prompts) {  // complete: what throws below is closed
  namespace fs = std::filesystem;
  if (!output_.empty() && (!fs::exists(output_) || fs::is_regular_file(output_))) {
    open();
    read(origin);
  }
}

AnswerJournal::~AnswerJournal() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

/// Holds a lock on the file while the run lasts, so that a second run cannot write between its
/// lines.
void AnswerJournal::open() {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw_environment("--output-path {}: {} cannot be written: {}", output_.string(),
                      path_.string(), std::generic_category().message(errno));
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw_data("--output-path {}: another run writes {}", output_.string(), path_.string());
  }
}

/// Takes the answers of an earlier run if its head is this run's. A file that ends inside the head
/// is begun anew: nothing was finished then.
void AnswerJournal::read(const Origin& origin) {
  const std::string content = read_file(path_);
  const std::string head = head_of(origin);
  std::string_view whole(content);
  whole = whole.substr(0, whole.rfind('\n') + 1);  // npos + 1 is 0
  if (whole.empty() && head.starts_with(content)) {
    append(head.substr(content.size()));
    return;
  }
  if (!whole.starts_with(kTitle)) {
    throw_data("--output-path {}: {} is no journal of answers. Choose another name.",
               output_.string(), path_.string());
  }
  if (!whole.starts_with(head)) {
    const bool same_model = whole.substr(0, whole.find('\n')).ends_with(origin.model);
    throw_usage("--output-path {}: {} holds answers {}. Go on with theirs, or remove it.",
                output_.string(), path_.string(),
                same_model ? "to other prompts, or with other options" : "of another model");
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(whole.size())) != 0) {
    throw_environment("{}: its last line cannot be dropped: {}", path_.string(),
                      std::generic_category().message(errno));
  }
  for (whole.remove_prefix(head.size()); !whole.empty();) {
    const std::size_t size = whole.find('\n') + 1;
    take(whole.substr(0, size));
    whole.remove_prefix(size);
  }
}

/// Reads one line back; Error(data) shows its beginning where it is none.
void AnswerJournal::take(std::string_view record) {
  std::size_t prompt = 0;
  FinishedAnswer answer;
  std::string_view rest = record;
  if (!take_number(rest, prompt) || !take_number(rest, answer.loss) ||
      !take_number(rest, answer.tokens) || prompt >= answers_.size() || !rest.starts_with('{') ||
      !rest.ends_with("}\n")) {
    throw_data("{}: this is no answer: {}", path_.string(), record.substr(0, 80));
  }
  answer.line = rest;
  answers_[prompt] = std::move(answer);
}

void AnswerJournal::add(std::size_t prompt, FinishedAnswer answer) {
  if (descriptor_ >= 0) {
    append(fmt::format("{} {} {} {}", prompt, answer.loss, answer.tokens, answer.line));
  }
  answers_[prompt] = std::move(answer);
}

void AnswerJournal::append(const std::string& text) {
  if (!write_all(descriptor_, text)) {
    throw_environment("--output-path {}: {} cannot be written: {}", output_.string(),
                      path_.string(), std::generic_category().message(errno));
  }
}

/// Replaces OUTPUT atomically and removes the journal only then. A pipe or device is written in
/// place.
void AnswerJournal::finish() {
  if (descriptor_ >= 0) {
    AtomicFile file(output_);
    for (const FinishedAnswer& answer : answers_) {
      file.write(answer.line);
    }
    file.commit();
    std::filesystem::remove(path_);
  } else if (!output_.empty()) {
    std::ofstream file(output_);
    for (const FinishedAnswer& answer : answers_) {
      file << answer.line;
    }
    if (!file.flush()) {
      throw_environment("--output-path {}: it cannot be written", output_.string());
    }
  }
}

}  // namespace mpitron::cli
