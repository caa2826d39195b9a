#pragma once
#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/contains.h"
#include "support/corpus.h"
#include "utils/system/files.h"

// Runs the built program as a user does, in a folder of its own.

namespace mpitron::test {

struct Finished {
  int code = -1;  // of exit; 128 + the signal that ended the program
  std::string out;
  std::string err;
};

/// How to start the program.
struct ProgramEnvironment {
  std::map<std::string, std::string> variables = {};
  std::string standard_input = {};      // a file; empty: nothing to read
  rlim_t largest_file = RLIM_INFINITY;  // bytes: what a full disk allows
  std::chrono::seconds limit{150};      // a program that hangs is killed; a busy machine is slow
};

/// A running `mpitron ARGUMENTS` whose outputs go to files in `folder`, which is its working
/// folder.
class RunningProgram {
 public:
  RunningProgram(const std::string& folder, const std::vector<std::string>& arguments,
                 const ProgramEnvironment& environment = {})
      : limit_(environment.limit) {
    static int count = 0;
    const std::string stem = folder + "/.program-" + std::to_string(count++);
    out_ = stem + ".out";
    err_ = stem + ".err";
    for (const std::string& path : {out_, err_}) {  // it may be killed before it makes them
      std::ofstream file(path);
    }
    child_ = ::fork();
    if (child_ == 0) {
      start(folder, arguments, environment);
    }
  }
  ~RunningProgram() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void signal(int number) const { ::kill(child_, number); }
  std::string output() const { return read_file(out_); }
  /// Waits until stdout holds `part`; false after the limit.
  bool wait_for_output(const std::string& part) const {
    return wait(
        [&] { return std::filesystem::exists(out_) && output().find(part) != std::string::npos; });
  }
  /// Waits until the condition holds; false after the limit.
  template <class Condition>
  bool wait(Condition&& condition) const {
    const auto end = std::chrono::steady_clock::now() + limit_;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      ::usleep(2000);
    }
    return true;
  }
  Finished wait_for_end() {
    int status = 0;
    const bool ended = wait([&] { return ::waitpid(child_, &status, WNOHANG) == child_; });
    EXPECT_TRUE(ended) << "the program hangs";
    if (!ended) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, &status, 0);
    }
    child_ = -1;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, read_file(out_), read_file(err_)};
  }

 private:
  [[noreturn]] void start(const std::string& folder, const std::vector<std::string>& arguments,
                          const ProgramEnvironment& environment) const {
    const auto redirect = [](const std::string& path, int flags, int to) {
      ::dup2(::open(path.c_str(), flags, 0666), to);
    };
    const std::string& input = environment.standard_input;
    redirect(input.empty() ? "/dev/null" : input, O_RDONLY, STDIN_FILENO);
    redirect(out_, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(err_, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    for (const auto& [name, value] : environment.variables) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    const rlimit limits{environment.largest_file, environment.largest_file};
    if (environment.largest_file != RLIM_INFINITY) {
      ::signal(SIGXFSZ, SIG_IGN);
      ::setrlimit(RLIMIT_FSIZE, &limits);
    }
    std::vector<char*> words = {const_cast<char*>("mpitron")};
    for (const std::string& argument : arguments) {
      words.push_back(const_cast<char*>(argument.c_str()));
    }
    words.push_back(nullptr);
    if (::chdir(folder.c_str()) == 0) {
      ::execv(MPITRON_PROGRAM, words.data());
    }
    ::_exit(127);
  }

  std::chrono::seconds limit_;
  std::string out_, err_;
  pid_t child_ = -1;
};

inline Finished run_program(const std::string& folder, const std::vector<std::string>& arguments,
                            const ProgramEnvironment& environment = {}) {
  return RunningProgram(folder, arguments, environment).wait_for_end();
}

}  // namespace mpitron::test
