#pragma once
#include "tokenizers/jinja_values/run.h"

namespace mpitron::tokenizers::jinja {

/// A node of a template that has a value.
struct Expression {
  explicit Expression(int at) : line(at) {}
  virtual ~Expression() = default;
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  /// Computes the value; called by Run::evaluate alone, which counts steps and depth.
  virtual Value evaluate(Run& run) const = 0;

  int line;
};
using ExpressionPtr = std::unique_ptr<Expression>;

/// How a statement ends: the loop around it goes on, ends, or begins its next turn.
enum class Flow { on, ends_loop, next_turn };

/// A node that writes, or sets variables.
struct Statement {
  explicit Statement(int at) : line(at) {}
  virtual ~Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  /// Runs the statement; called by execute() alone.
  virtual Flow run(Run& run) const = 0;

  int line;
};

/// Runs all statements of a block, or those up to one that leaves it.
Flow execute(Run& run, const Block& block);

/// `f(a, name=b, *c, **d)`.
struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr more_positional, more_named;

  /// Evaluates from left to right; a Fault where `*` or `**` gets the wrong type.
  Arguments evaluate(Run& run) const;
};

/// The left side of an assignment: a name, an attribute of a namespace, or a tuple of targets.
struct Target {
  std::string name;
  std::string attribute;        // of the namespace `name`
  std::vector<Target> targets;  // not empty: a tuple

  /// Assigns in the current scope; a Fault where a tuple has another size.
  void assign(Run& run, const Value& value) const;
};

struct Parameter {
  std::string name;
  ExpressionPtr otherwise;  // null: there is no default
};

/// A macro's definition, or a call block's.
struct MacroBody {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  bool takes_more = false;        // it uses `varargs`
  bool takes_more_named = false;  // it uses `kwargs`
  bool calls_back = false;        // it uses `caller`
};

}  // namespace mpitron::tokenizers::jinja
