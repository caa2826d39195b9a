#pragma once
#include <ctime>
#include <unordered_set>

#include "tokenizers/jinja_values/object.h"

namespace mpitron::tokenizers::jinja {

struct Expression;
struct Statement;
using Block = std::vector<std::unique_ptr<Statement>>;

/// Resources that a rendering may use; a template comes from strangers.
struct Limits {
  std::int64_t steps = 4'000'000;                 // nodes visited, and 32 bytes of text each
  int depth = 800;                                // nested expressions, blocks and calls
  std::size_t output = std::size_t{64} << 20;     // bytes of a text
  std::optional<std::time_t> now = std::nullopt;  // of strftime_now; unset: the clock's
};

/// The variables of a block; they hide those of the scopes around it.
class Scope {
 public:
  explicit Scope(Scope* around) : around_(around) {}
  /// Returns null where no scope has the name.
  const Value* find(const std::string& name) const;
  void set(const std::string& name, Value value);
  /// All variables that are seen from here, up to `end`, but not those of `end`.
  std::vector<std::pair<std::string, Value>> seen(const Scope* end) const;

 private:
  Scope* around_;
  std::vector<std::pair<std::string, Value>> variables_;
};

/// One rendering: its variables, its output, and what it has used of its limits. Owns all lists,
/// dictionaries and objects that are made on the way, until its end.
class Run {
 public:
  Run(const Value& variables, const Limits& limits);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Counts steps; a Fault beyond the limit.
  void spend(std::size_t work = 1);
  /// Computes an expression, one level deeper.
  Value evaluate(const Expression& expression);

  /// Makes values that are counted and, but for texts, owned by the run.
  Value text(std::string text);
  Value list(List items, bool is_tuple = false);
  Value dict(Dict dict);
  /// Makes an Object that lives as long as the run.
  template <class T, class... Args>
  T& make(Args&&... args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    T& object = *made;
    objects_.push_back(std::move(made));
    spend();
    return object;
  }
  /// Returns whether a list was made by this rendering, which may change it then.
  bool owns(const List* list) const { return own_lists_.contains(list); }

  /// Appends to the output.
  void write(std::string_view text);
  /// Returns what `body` writes, instead of writing it.
  template <class Body>
  std::string captured(Body&& body) {
    std::string text;
    std::string* const outer = std::exchange(output_, &text);
    const Back back{output_, outer};
    body();
    return text;
  }
  const std::string& output() const { return *output_; }
  bool captures() const { return output_ != &whole_; }
  /// Remembers bytes of the output as what an assistant writes.
  void note_generated(std::size_t begin, std::size_t end) { generated_.emplace_back(begin, end); }
  std::vector<std::pair<std::size_t, std::size_t>> generated() { return std::move(generated_); }
  std::string take_output() { return std::move(whole_); }

  Scope& scope() { return *scope_; }
  Scope& global() { return global_; }
  /// Runs `body` with other variables.
  template <class Body>
  auto within(Scope& scope, Body&& body) {
    Scope* const outer = std::exchange(scope_, &scope);
    const Back back{scope_, outer};
    return body();
  }
  /// Runs `body` one deeper; a Fault beyond the limit.
  template <class Body>
  auto deeper(Body&& body) {
    const Back back{depth_, depth_};
    go_deeper();
    return body();
  }

  int line = 1;  // of the template, where it is now
  const Limits& limits() const { return limits_; }

 private:
  template <class T>
  struct Back {  // puts a value back at the end of a block
    T& place;
    T value;
    ~Back() { place = value; }
  };
  void go_deeper();

  Limits limits_;
  Scope global_{nullptr};
  Scope* scope_ = &global_;
  std::string whole_;
  std::string* output_ = &whole_;
  std::size_t written_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> generated_;
  std::size_t used_ = 0;
  int depth_ = 0;
  std::vector<std::unique_ptr<Object>> objects_;
  std::vector<std::shared_ptr<List>> lists_;
  std::vector<std::shared_ptr<Dict>> dicts_;
  std::unordered_set<const List*> own_lists_;
};

}  // namespace mpitron::tokenizers::jinja
